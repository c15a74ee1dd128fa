//! The parts of the browser module that need no browser: search, installation, decisions, switches.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cdpilot::browser::find::{Found, Origin, Os, Sources, search};
use cdpilot::browser::install::{self, Machine, plan_for};
use cdpilot::browser::{Error, Facts, LaunchOptions, Surroundings, Switch, TransportKind, container_sign, flags};

// ---- finding -----------------------------------------------------------------------------------

fn found(os: Os, explicit: Option<&str>, env: &[(&str, &str)], target: &[&str]) -> Result<Found, Error> {
    let env: HashMap<&str, &str> = env.iter().copied().collect();
    let env = |name: &str| env.get(name).map(OsString::from);
    let usable = |path: &Path| {
        let is_there = target.iter().any(|t| Path::new(t) == path);
        if is_there { Ok(()) } else { Err("there is no such file".to_owned()) }
    };
    let mut sources = Sources::new(os, &env, &usable);
    sources.explicit = explicit.map(Path::new);
    search(&sources)
}

#[test]
fn an_explicit_path_precedes_environment_and_system_paths() {
    let target = ["/a/chrome", "/b/chrome", "/usr/bin/chromium"];
    let env = [("CDPILOT_BROWSER", "/b/chrome"), ("PATH", "/usr/bin")];
    let at = |explicit, env: &[_]| found(Os::Linux, explicit, env, &target).unwrap();
    assert_eq!(at(Some("/a/chrome"), &env), Found::new("/a/chrome", Origin::Explicit));
    assert_eq!(at(None, &env), Found::new("/b/chrome", Origin::Environment));
    assert_eq!(at(None, &env[1..]), Found::new("/usr/bin/chromium", Origin::System));
}

#[test]
fn a_requested_browser_is_never_replaced() {
    let env = [("CDPILOT_BROWSER", "/gone/chrome"), ("PATH", "/usr/bin")];
    let error = found(Os::Linux, None, &env, &["/usr/bin/chromium"]).unwrap_err();
    assert!(matches!(&error, Error::Executable { path, .. } if path == Path::new("/gone/chrome")));
    assert!(error.to_string().contains("CDPILOT_BROWSER") && error.to_string().contains("no such file"), "{error}");
    let error = found(Os::Linux, Some("/gone"), &env, &["/usr/bin/chromium"]).unwrap_err();
    assert!(matches!(error, Error::Executable { .. }));
}

#[test]
fn a_name_is_resolved_in_path_and_in_app_bundles() {
    let env = [("PATH", "/usr/local/bin:/usr/bin")];
    let name = found(Os::Linux, Some("brave"), &env, &["/usr/bin/brave"]).unwrap();
    assert_eq!(name.path, Path::new("/usr/bin/brave"));
    let inner = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
    let bundle = found(Os::Mac, Some("/Applications/Google Chrome.app"), &[], &[inner]).unwrap();
    assert_eq!(bundle.path, Path::new(inner));
}

#[test]
fn linux_search_orders_by_name_before_folder() {
    let env = [("PATH", "/a:/b")];
    let at = |target: &[&str]| found(Os::Linux, None, &env, target).unwrap().path;
    assert_eq!(at(&["/a/google-chrome", "/b/chromium"]), Path::new("/b/chromium"));
    assert_eq!(at(&["/a/brave-browser", "/b/google-chrome"]), Path::new("/b/google-chrome"));
    assert_eq!(at(&["/snap/bin/chromium"]), Path::new("/snap/bin/chromium"));
    assert_eq!(at(&["/opt/google/chrome/chrome"]), Path::new("/opt/google/chrome/chrome"));
}

#[test]
fn macos_takes_canary_then_chromium_then_chrome() {
    let app = |folder: &str, app: &str| format!("{folder}/{app}.app/Contents/MacOS/{app}");
    let canary = app("/Users/me/Applications", "Google Chrome Canary");
    let chromium = app("/Applications", "Chromium");
    let chrome = app("/Applications", "Google Chrome");
    let own_chrome = app("/Users/me/Applications", "Google Chrome");
    let edge = app("/Applications", "Microsoft Edge");
    let at = |target: &[&String]| {
        let target: Vec<&str> = target.iter().map(|s| s.as_str()).collect();
        found(Os::Mac, None, &[("HOME", "/Users/me")], &target).unwrap().path
    };
    assert_eq!(at(&[&edge, &own_chrome, &chrome, &chromium, &canary]), PathBuf::from(&canary));
    assert_eq!(at(&[&edge, &own_chrome, &chrome, &chromium]), PathBuf::from(&chromium));
    assert_eq!(at(&[&edge, &own_chrome, &chrome]), PathBuf::from(&chrome));
    assert_eq!(at(&[&edge, &own_chrome]), PathBuf::from(&own_chrome));
    assert_eq!(at(&[&edge]), PathBuf::from(&edge));
}

#[test]
fn windows_search_covers_the_three_program_folders() {
    let env = [("ProgramFiles", r"C:\P"), ("ProgramFiles(x86)", r"C:\P86"), ("LOCALAPPDATA", r"C:\L")];
    let at = |target: &[&str]| found(Os::Windows, None, &env, target).unwrap().path;
    let chromium = r"C:\L\Chromium\Application\chrome.exe";
    let chrome = r"C:\P86\Google\Chrome\Application\chrome.exe";
    let edge = r"C:\P86\Microsoft\Edge\Application\msedge.exe";
    assert_eq!(at(&[edge, chrome, chromium]), Path::new(chromium));
    assert_eq!(at(&[edge, chrome]), Path::new(chrome));
    assert_eq!(at(&[edge]), Path::new(edge));
}

#[test]
fn a_failed_search_lists_the_tried_paths_with_advice() {
    let error = found(Os::Linux, None, &[("PATH", "/a:/b")], &[]).unwrap_err();
    let Error::NotFound { tried, .. } = &error else { panic!("{error:?}") };
    assert_eq!(tried.iter().filter(|t| *t == "chromium").count(), 1, "a name is listed once: {tried:?}");
    assert!(tried.iter().any(|t| t == "/snap/bin/chromium"));
    let text = error.to_string();
    assert!(text.contains("cdpilot install") && text.contains("CDPILOT_BROWSER"), "{text}");
}

// ---- installing --------------------------------------------------------------------------------

fn planned(os: Os, root: bool, distribution: &str, has: &[&str]) -> Option<String> {
    let has = |name: &str| has.contains(&name);
    plan_for(&Machine::new(os, distribution, &has).root(root)).map(|plan| plan.command_line())
}

#[test]
fn each_package_manager_has_its_command() {
    let linux = |has: &[&str]| planned(Os::Linux, true, "debian", has).unwrap();
    assert_eq!(linux(&["apt-get"]), "apt-get update && apt-get install -y chromium");
    assert_eq!(linux(&["dnf"]), "dnf install -y chromium");
    assert_eq!(linux(&["pacman"]), "pacman -Sy --noconfirm chromium");
    assert_eq!(linux(&["zypper"]), "zypper --non-interactive install chromium");
    assert_eq!(linux(&["apk"]), "apk add --no-cache chromium");
    assert_eq!(planned(Os::Mac, false, "", &["brew"]).unwrap(), "brew install --cask google-chrome");
    assert!(
        planned(Os::Windows, false, "", &["winget"]).unwrap().starts_with("winget install --exact --id Google.Chrome")
    );
    assert_eq!(planned(Os::Linux, true, "", &[]), None);
    assert_eq!(planned(Os::Mac, true, "", &["apt-get"]), None);
}

#[test]
fn an_ordinary_user_installs_through_sudo() {
    let plan = planned(Os::Linux, false, "debian", &["apt-get", "sudo"]).unwrap();
    assert_eq!(plan, "sudo apt-get update && sudo apt-get install -y chromium");
    assert_eq!(planned(Os::Linux, false, "alpine", &["apk", "doas"]).unwrap(), "doas apk add --no-cache chromium");
    let has = |name: &str| name == "apk";
    let plan = plan_for(&Machine::new(Os::Linux, "", &has)).unwrap();
    assert!(plan.note.unwrap().contains("root"));
}

#[test]
fn ubuntu_gets_the_snap() {
    let plan = |distribution, has: &[&str]| planned(Os::Linux, true, distribution, has).unwrap();
    assert_eq!(plan("ubuntu debian", &["apt-get", "snap"]), "snap install chromium");
    assert_eq!(plan("linuxmint ubuntu debian", &["apt-get", "snap"]), "apt-get update && apt-get install -y chromium");
}

#[test]
fn an_installation_stops_at_the_first_failing_step() {
    let step = |script: &str| install::Step::new("sh", &["-c", script]);
    let steps = vec![step("echo one; echo two >&2"), step("echo three; exit 7"), step("echo never")];
    let plan = install::InstallPlan::new("sh", steps).note("ask the owner");
    let lines = RefCell::new(Vec::new());
    let error = install::run(&plan, |line| lines.borrow_mut().push(line.to_owned())).unwrap_err();
    let lines = lines.into_inner();
    let said: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.starts_with('$')).collect();
    assert_eq!(said, ["one", "two", "three"]);
    assert!(error.to_string().contains('7') && error.to_string().contains("ask the owner"), "{error}");
    let missing = install::Step::new("/no/such/program", &[]);
    let plan = install::InstallPlan::new("sh", vec![missing]);
    assert!(install::run(&plan, |_| {}).unwrap_err().to_string().contains("could not be started"));
}

// ---- deciding ----------------------------------------------------------------------------------

fn plain() -> Surroundings {
    Surroundings::new(Os::Linux).display(true)
}

#[test]
fn headless_comes_from_option_environment_or_display() {
    let none: [String; 0] = [];
    let no_display = plain().display(false);
    assert!(!plain().headless(Switch::Auto, &none).on);
    assert!(no_display.headless(Switch::Auto, &none).on);
    let response = |value: &str, display| plain().headless_env(value).display(display);
    assert!(response("1", true).headless(Switch::Auto, &none).on);
    assert!(!response("false", false).headless(Switch::Auto, &none).on);
    assert!(response("auto", false).headless(Switch::Auto, &none).on, "anything else leaves it to the display");
    assert!(!response("1", false).headless(Switch::Off, &none).on);
    assert!(response("0", true).headless(Switch::On, &none).on);
    assert!(plain().headless(Switch::Auto, &["--headless=new".into()]).on);
}

#[test]
fn the_sandbox_is_disabled_only_for_root_in_a_container() {
    let none: [String; 0] = [];
    let at = |root, container: Option<&str>, os| {
        let container = container.map(str::to_owned);
        {
            let mut options = plain().root(root);
            options.container = container;
            options.os = os;
            options
        }
        .no_sandbox(Switch::Auto, &none)
        .on
    };
    assert!(at(true, Some("/.dockerenv"), Os::Linux));
    assert!(!at(true, None, Os::Linux));
    assert!(!at(false, Some("/.dockerenv"), Os::Linux));
    assert!(!at(true, Some("CI is set"), Os::Mac));
    assert!(plain().no_sandbox(Switch::On, &none).on);
    let root = plain().root(true).container("x");
    assert!(!root.no_sandbox(Switch::Off, &none).on);
    assert!(root.no_sandbox(Switch::Auto, &none).because.contains("(x)"));
}

#[test]
fn containers_are_detected() {
    let sign = |files: &[(&str, &str)], vars: &[&str]| {
        let read = |path: &Path| files.iter().find(|(f, _)| Path::new(f) == path).map(|(_, text)| (*text).to_owned());
        container_sign(&|name| vars.contains(&name), &read)
    };
    let init = ("/proc/1/comm", "systemd\n");
    assert_eq!(sign(&[init], &[]), None);
    assert_eq!(sign(&[], &[]), None);
    assert_eq!(sign(&[init, ("/.dockerenv", "")], &[]).as_deref(), Some("/.dockerenv"));
    assert_eq!(sign(&[init], &["CI"]).as_deref(), Some("CI is set"));
    assert!(sign(&[init, ("/proc/1/cgroup", "0::/kubepods/pod1\n")], &[]).unwrap().contains("kubepods"));
    assert!(sign(&[("/proc/1/comm", "node\n")], &[]).unwrap().contains("node"));
}

// ---- flags -------------------------------------------------------------------------------------

fn lines(options: &LaunchOptions, os: Os) -> Result<Vec<String>, Error> {
    let facts = Facts::new(os, Path::new("/p")).headless(true).no_sandbox(true);
    flags(options, &facts).map(|all| all.into_iter().map(|flag| flag.into_string().unwrap()).collect())
}

fn with_args(args: &[&str]) -> LaunchOptions {
    {
        let mut options = LaunchOptions::new();
        options.extra_args = args.iter().map(|a| (*a).to_owned()).collect();
        options
    }
}

#[test]
fn the_transport_decides_the_debugging_switches() {
    let debugging = |transport, os| -> Vec<String> {
        let all = lines(&LaunchOptions::new().transport(transport), os).unwrap();
        all.into_iter().filter(|flag| flag.contains("remote-debugging")).collect()
    };
    let (pipe, port) = ("--remote-debugging-pipe", "--remote-debugging-port=18800");
    assert_eq!(debugging(TransportKind::Pipe, Os::Linux), [pipe]);
    assert_eq!(debugging(TransportKind::PipeAndPort(18800), Os::Mac), [pipe, port]);
    assert_eq!(debugging(TransportKind::Port(18800), Os::Linux), [pipe, port], "the pipe is the life line");
    assert_eq!(debugging(TransportKind::Port(18800), Os::Windows), [port]);
    assert_eq!(debugging(TransportKind::Pipe, Os::Windows), ["--remote-debugging-port=0"]);
}

#[test]
fn decisions_and_options_appear_on_the_command_line() {
    let mut options = with_args(&["--lang=de", "--no-sandbox", "--headless=new"]);
    options.window_size = Some((1280, 720));
    let all = lines(&options, Os::Linux).unwrap();
    let count = |flag: &str| all.iter().filter(|f| *f == flag).count();
    for flag in ["--headless=new", "--no-sandbox", "--lang=de", "--window-size=1280,720", "--user-data-dir=/p"] {
        assert_eq!(count(flag), 1, "{flag} in {all:?}");
    }
    assert_eq!(count("--disable-dev-shm-usage"), 1);
    assert_eq!(all.last().unwrap(), "about:blank");
    let facts = Facts::new(Os::Mac, Path::new("/p"));
    let bare = flags(&LaunchOptions::default(), &facts).unwrap();
    assert!(bare.contains(&"--use-mock-keychain".into()));
    assert!(!bare.contains(&"--headless=new".into()) && !bare.contains(&"--no-sandbox".into()));
    // What was decided and is reported prevails over an extra argument.
    let kept = flags(&with_args(&["--no-sandbox", "-no-sandbox"]), &facts).unwrap();
    assert!(!kept.iter().any(|flag| flag.to_string_lossy().contains("no-sandbox")), "{kept:?}");
}

#[test]
fn disabled_features_are_merged_into_one_switch() {
    let all = lines(&with_args(&["--disable-features=Mine,Yours"]), Os::Linux).unwrap();
    let lists: Vec<_> = all.iter().filter(|flag| flag.starts_with("--disable-features")).collect();
    assert_eq!(lists.len(), 1, "Chromium takes the last such switch only");
    assert!(lists[0].contains("Translate,MediaRouter") && lists[0].ends_with(",Mine,Yours"), "{lists:?}");
}

#[test]
fn arguments_that_break_control_of_the_browser_are_refused() {
    let refused = [
        "--remote-debugging-port=1",
        "--remote-debugging-pipe",
        "-remote-debugging-address=0.0.0.0",
        "--user-data-dir=/home/me",
        "--user-data-dir",
        "--temp-profile",
        "--remote-allow-origins=*",
        "--",
    ];
    for arg in refused {
        let error = lines(&with_args(&[arg]), Os::Linux).unwrap_err();
        assert!(matches!(&error, Error::Argument { argument, .. } if argument == arg), "{arg}: {error:?}");
    }
    assert!(lines(&with_args(&["--remote-allow-origins=http://127.0.0.1:1", "http://a.test/"]), Os::Linux).is_ok());
}

#[test]
fn port_9222_is_refused() {
    for transport in [TransportKind::Port(9222), TransportKind::PipeAndPort(9222)] {
        let error = lines(&LaunchOptions::new().transport(transport), Os::Linux).unwrap_err();
        assert!(matches!(error, Error::ReservedPort { port: 9222 }));
    }
}
