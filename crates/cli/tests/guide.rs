//! docs/guide.md: its commands, run in a shell as they stand there, and the output that it shows.
//!
//! Each section runs with a home of its own. `https://shop.example` and `https://pay.example` are two sites of this
//! test. `…` in an output stands for anything in a line; alone in a line, for any lines.

use std::fs::{self, File};
use std::process::Command;

use crate::cli_completions::in_shell;
use crate::cli_run::{Program, has_browser};
use crate::support::site::{Answer, Site};

/// What is typed at the terminal where a section asks for it.
const TYPED: &str = "correct horse\n";
/// Between the outputs of two blocks.
const MARK: &str = "@@@@";

#[derive(Debug, Default)]
struct Section {
    title: String,
    blocks: Vec<Block>,
}

#[derive(Debug, Default)]
struct Block {
    commands: String,
    /// What is shown below it, if anything is.
    output: Option<String>,
}

fn sections() -> Vec<Section> {
    let path = testkit::root().join("docs/guide.md");
    let text = fs::read_to_string(path).unwrap();
    let mut all: Vec<Section> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            all.push(Section { title: title.to_owned(), blocks: Vec::new() });
        }
        let Some(kind) = line.strip_prefix("```") else { continue };
        let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let (inside, blocks) = (inside.join("\n"), &mut all.last_mut().unwrap().blocks);
        match kind {
            "sh" => blocks.push(Block { commands: inside, output: None }),
            "text" => blocks.last_mut().unwrap().output = Some(inside),
            other => panic!("a block of kind {other:?} is not run"),
        }
    }
    all
}

/// Whether a line is as shown.
fn fits(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn all_fit(shown: &[&str], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skip| all_fit(rest, &lines[skip..])),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, more)| fits(first, line) && all_fit(rest, more)),
    }
}

/// Runs a section and compares its outputs with those shown.
fn section(title: &str) {
    if !has_browser() || Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    let sections = sections();
    let section = sections.iter().find(|section| section.title == title).unwrap();
    assert!(!section.blocks.is_empty(), "{title} has no commands");
    let outputs = run(section);
    for (block, output) in section.blocks.iter().zip(outputs) {
        let Some(shown) = &block.output else { continue };
        let (shown, lines): (Vec<_>, Vec<_>) = (shown.lines().collect(), output.lines().collect());
        assert!(
            all_fit(&shown, &lines),
            "{}\nprints\n{output}\nbut this is shown\n{}",
            block.commands,
            shown.join("\n")
        );
    }
}

/// The outputs of the blocks of a section.
fn run(section: &Section) -> Vec<String> {
    let (site, program) = (site(), Program::at_home().0.leasing().unwrap());
    let addresses = [("https://shop.example", site.url("a", "")), ("https://pay.example", site.url("b", ""))];
    let mut script = "set -eu\nexec 2>&1\n".to_owned();
    for block in &section.blocks {
        script += &format!("{}\necho {MARK}\n", block.commands);
    }
    for (shown, real) in &addresses {
        script = script.replace(shown, real);
    }
    let file = |name: &str| program.temp.path().join(name);
    fs::write(file("report.pdf"), "%PDF-1.4\n").unwrap();
    fs::write(file("typed"), TYPED).unwrap();
    let mut command = in_shell(&program, "bash");
    command.args(["--norc", "-c", &script]).stdin(File::open(file("typed")).unwrap());
    // Not a pipe: the server in the background must not hold it.
    command.stdout(File::create(file("output")).unwrap());
    let ended = command.status().unwrap();
    let mut output = fs::read_to_string(file("output")).unwrap();
    let stopped = program.run(&["serve", "--stop"]);
    for (shown, real) in &addresses {
        output = output.replace(real, shown);
    }
    // The browser is shared by the tests, so that it is not stopped but detached from.
    let detached = "detached from the browser of profile cdpilot, which cdpilot has not launched";
    output = output.replace(detached, "the browser of profile cdpilot is stopped");
    assert!(ended.success() && stopped.code == Some(0), "{}: {ended}, {stopped:?}\n{output}", section.title);
    output.split(&format!("{MARK}\n")).map(str::to_owned).collect()
}

fn site() -> Site {
    let site = Site::start();
    let page = |path: &str, title: &str, body: &str| {
        site.page(path, &format!("<!doctype html><title>{title}</title><h1>{title}</h1>{body}"));
    };
    page(
        "/search",
        "Search",
        "<form onsubmit=\"document.querySelector('output').textContent = '2 results for ' + this.q.value; return false\">
         <label>What for? <input name=q></label> <button>Search</button></form><p><output></output></p>",
    );
    site.page(
        "/login",
        "<title>Sign in</title><form onsubmit=\"if (this.password.value === 'correct horse') { \
         document.cookie = 'session=ada; max-age=3600; path=/'; location = '/account' } return false\">
         <label>User name <input name=user></label> <label>Password <input type=password name=password></label>
         <button>Sign in</button></form>",
    );
    site.page(
        "/account",
        "<title>Account</title><h1></h1><script>document.querySelector('h1').textContent = \
         document.cookie.includes('session=ada') ? 'Welcome back, Ada' : 'Please sign in'</script>",
    );
    page("/shop", "Shop", "<button onclick=\"open('/help', '', 'width=400,height=300')\">Help</button>");
    page("/help", "Help", "<p>Call us.</p>");
    page(
        "/upload",
        "Upload",
        "<input type=file hidden onchange=\"document.querySelector('output').textContent = this.files[0].name + ' received'\">
         <button onclick=\"document.querySelector('input').click()\">Choose a file</button><p><output></output></p>",
    );
    page(
        "/orders",
        "Orders",
        "<p><a href=/orders.csv download>Export as CSV</a>
         <button onclick=\"setTimeout(() => document.querySelector('a').click(), 1000)\">Prepare report</button></p>
         <table><tr><th>Order<th>Item<th>Total<tr><td>1001<td>Tea<td>4.50<tr><td>1002<td>Coffee<td>7.20</table>",
    );
    let csv = Answer::bytes("text/csv", "order,item,total\n1001,Tea,4.50\n".as_bytes());
    site.put("/orders.csv", csv.header("Content-Disposition", "attachment; filename=orders.csv"));
    let product = |name: &str, price: &str| format!("<li class=product><h2>{name}</h2><p class=price>{price}</p>");
    let first = product("Black tea", "4.50") + &product("Green tea", "5.20");
    page("/products", "Products", &format!("<ul>{first}</ul><a href=/more>Next</a>"));
    let second = product("Coffee", "7.20") + &product("Cocoa", "3.90");
    page("/more", "Products", &format!("<ul>{second}</ul><a href=/products>Back</a>"));
    page(
        "/cart",
        "Cart",
        "<button onclick=\"if (confirm('Empty the cart?')) document.querySelector('h1').textContent = 'Your cart is empty'\">
         Empty cart</button>
         <button onclick=\"document.querySelector('h1').textContent = 'Cart of ' + prompt('Your name?')\">Name it</button>",
    );
    page("/checkout", "Checkout", "<iframe title=Payment src='@b/card' width=400 height=200></iframe>");
    site.page(
        "/card",
        "<title>Card</title><form onsubmit=\"document.querySelector('output').textContent = 'Paid with ' + this.code.value; \
         return false\"><label>Voucher <input name=code></label> <button>Pay</button></form><p><output></output></p>",
    );
    site
}

/// The sections that a test below runs.
const SECTIONS: [&str; 9] = [
    "Look at a page and act on it",
    "Log in",
    "Work with a popup",
    "Upload a file",
    "Download a file",
    "Collect a list over several pages",
    "Read a table as JSON",
    "Answer a dialog",
    "Work in a frame",
];

#[test]
fn every_section_has_its_test() {
    let titles: Vec<String> = sections().into_iter().map(|section| section.title).collect();
    assert_eq!(titles, SECTIONS);
}

#[test]
fn look_at_a_page() {
    section(SECTIONS[0]);
}

#[test]
fn log_in() {
    section(SECTIONS[1]);
}

#[test]
fn popup() {
    section(SECTIONS[2]);
}

#[test]
fn upload() {
    section(SECTIONS[3]);
}

#[test]
fn download() {
    section(SECTIONS[4]);
}

#[test]
fn list_over_pages() {
    section(SECTIONS[5]);
}

#[test]
fn table() {
    section(SECTIONS[6]);
}

#[test]
fn dialog() {
    section(SECTIONS[7]);
}

#[test]
fn frame() {
    section(SECTIONS[8]);
}
