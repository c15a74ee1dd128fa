//! The script that uses the HTTP API, in Python with its standard library only.

use super::acts::{Act, ActWhat, Address, Follows, Target};
use super::locators::{is_any_control, marked};
use super::script::{Script, ScriptStep};
use super::words::{Language, Parts, comment, expression, literal};

/// The functions that a script uses.
const RUNTIME: &str = include_str!("runtime.py");

/// A routine as a script.
pub(super) fn text(script: &Script<'_>) -> String {
    let source = script.source;
    let mut out = String::from("#!/usr/bin/env python3\n");
    let head = format!(
        "{}\nMade by cdpilot from version {} of the routine {:?}. Needs Python 3.8 and a cdpilot server.\nIt uses the profile CDPILOT_PROFILE, \
         by default the default one, with its logins.",
        source.routine.goal, source.version, source.name
    );
    out.push_str(&comment(&head, "#", 0));
    for one in script.omitted() {
        out.push_str(&comment(&format!("TODO: step {}: {}.", one.step, one.why), "#", 0));
    }
    out.push_str(&format!(
        "{RUNTIME}\n\n# Seconds for which an element or an effect is waited for.\nPATIENCE = {}\n",
        script.patience
    ));
    for variable in &script.variables {
        let default = variable.default.as_ref().filter(|_| !variable.is_secret());
        let default = default.map(|default| format!(", {}", quote(default))).unwrap_or_default();
        out.push_str(&format!("{} = env({}{default})\n", variable.name, quote(&variable.environment)));
    }
    let first = tab(script.first_tab());
    out.push_str(&format!("\n\ndef run():\n    {first} = open_tab({})\n", value(&script.start)));
    for step in &script.steps {
        out.push_str(&steps(script, step));
    }
    out.push_str(&format!(
        "    if {first} in tabs():\n        close({first})\n\n\ntry:\n    run()\nexcept Failed as problem:\n    sys.exit(f\"failed: {{problem}}\")\n"
    ));
    out
}

/// The lines of a step.
fn steps(script: &Script<'_>, step: &ScriptStep<'_>) -> String {
    let mut out = format!("\n    print({}, flush=True)\n", quote(&format!("Step {}: {}", step.n, step.title)));
    out.push_str(&comment(&step.text, "#", 4));
    let acts = match &step.acts {
        Ok(acts) => acts,
        Err(why) => {
            let problem = format!("step {} is not exported: {why}", step.n);
            out.push_str(&comment(&format!("TODO: {problem}. Write it here."), "#", 4));
            out.push_str(&format!("    raise Failed({})\n", quote(&problem)));
            return out;
        }
    };
    let first = acts.first().filter(|_| step.if_shown);
    let optional = first.and_then(|act| Some((act, act.element.as_ref()?)));
    let mut depth = 4;
    if let Some((act, target)) = optional.filter(|(_, target)| is_named(target)) {
        let after = script.after(step.n, act.tab).filter(|after| is_named(after));
        let after = after.map(|after| format!(", dict({})", arguments(after))).unwrap_or_default();
        out.push_str(&format!("    if is_shown({}, dict({}){after}):\n", tab(act.tab), arguments(target)));
        depth = 8;
    }
    for line in acts.iter().flat_map(act) {
        out.push_str(&format!("{:depth$}{line}\n", ""));
    }
    for name in &step.reads {
        let todo = format!("TODO: the value {name} is read from the page by a model; it is not used below.");
        out.push_str(&comment(&todo, "#", 4));
    }
    out
}

/// The lines of an action.
fn act(act: &Act) -> Vec<String> {
    let at = tab(act.tab);
    let element = act.element.as_ref().map(|target| find(&at, target)).unwrap_or_else(|| "None".to_owned());
    let done = |call: &str, more: &str| format!("done = {call}({at}, {element}{more})");
    let list = |all: &[Parts]| format!("[{}]", all.iter().map(value).collect::<Vec<_>>().join(", "));
    let mut lines = match &act.what {
        ActWhat::Click { button, double, modifiers } => {
            let mut more = String::new();
            if button != "left" {
                more.push_str(&format!(", button={}", quote(button)));
            }
            if *double {
                more.push_str(", double=True");
            }
            if !modifiers.is_empty() {
                let all: Vec<String> = modifiers.iter().map(|one| quote(one)).collect();
                more.push_str(&format!(", modifiers=[{}]", all.join(", ")));
            }
            vec![done("click", &more)]
        }
        ActWhat::Fill(text) => vec![format!("done = fill({at}, {element}, {})", value(text))],
        ActWhat::Check(is_on) => vec![done("tick", if *is_on { ", True" } else { ", False" })],
        ActWhat::Select(values) => vec![done("choose", &format!(", {}", list(values)))],
        ActWhat::Press { key, times } => {
            let times = if *times > 1 { format!(", {times}") } else { String::new() };
            vec![done("press_key", &format!(", {}{times}", quote(key)))]
        }
        ActWhat::Hover => vec![done("point_at", "")],
        ActWhat::Drag(to) => {
            let to = find(&at, to);
            vec![done("drag_to", &format!(", {to}"))]
        }
        ActWhat::Upload(paths) => vec![format!("done = upload({at}, {element}, {})", list(paths))],
        ActWhat::Open(url) => vec![format!("done = navigate({at}, \"/navigate\", url={})", value(url))],
        ActWhat::OpenTab { url, .. } => vec![format!("{at} = open_tab({})", value(url))],
        ActWhat::Back => vec![format!("done = navigate({at}, \"/back\")")],
        ActWhat::Forward => vec![format!("done = navigate({at}, \"/forward\")")],
        ActWhat::Reload => vec![format!("done = navigate({at}, \"/reload\")")],
        ActWhat::CloseTab => vec![format!("close({at})")],
        ActWhat::Dialogs => Vec::new(),
    };
    for dialog in &act.dialogs {
        let text = dialog.text.as_ref().filter(|_| dialog.accept).map(|text| format!(", {}", value(text)));
        let accept = if dialog.accept { "True" } else { "False" };
        let (kind, message) = (quote(&dialog.kind), value(&dialog.message));
        lines.push(format!("answer({at}, {kind}, {message}, {accept}{})", text.unwrap_or_default()));
    }
    lines.extend(act.effects.iter().flat_map(|effect| follows(act, &at, effect)));
    lines
}

/// The lines that wait for what follows from an action.
fn follows(act: &Act, at: &str, effect: &Follows) -> Vec<String> {
    let is_at = |tab: &str, address: &Address| {
        let query = address.query.iter().map(|(name, part)| format!("{}: {}", quote(name), value(part)));
        let query: Vec<String> = query.collect();
        format!("expect_address({tab}, {}, {{{}}})", value(&address.base), query.join(", "))
    };
    match effect {
        Follows::Address(address) => vec![is_at(at, address)],
        Follows::Tab { tab: n, address } => {
            let tab = tab(*n);
            let is_own = matches!(act.what, ActWhat::OpenTab { .. });
            let opened = (!is_own).then(|| format!("{tab} = expect_tab(done)"));
            opened.into_iter().chain(address.as_ref().map(|address| is_at(&tab, address))).collect()
        }
        Follows::TabClosed(_) if matches!(act.what, ActWhat::CloseTab) => Vec::new(),
        Follows::TabClosed(n) => vec![format!("expect_closed({})", tab(*n))],
        Follows::Download(filename) => vec![format!("expect_download({at}, done, {})", quote(filename))],
    }
}

fn tab(n: u64) -> String {
    format!("tab{n}")
}

fn is_named(target: &Target) -> bool {
    !target.name.is_empty()
}

/// The call that looks for an element.
fn find(tab: &str, target: &Target) -> String {
    if is_named(target) {
        return format!("find({tab}, {})", arguments(target));
    }
    format!("find_marked({tab}, {}{})", quote(&marked(target)), frame(target))
}

/// What is known of an element with a name.
fn arguments(target: &Target) -> String {
    let role = match &*target.anchor.role {
        _ if is_any_control(target) => "control",
        "" => "generic",
        role => role,
    };
    let container = target.anchor.container.as_ref();
    let within = container.map(|one| format!(", within=({}, {})", quote(&one.kind), value(&target.title)));
    format!("role={}, name={}{}{}", quote(role), value(&target.name), within.unwrap_or_default(), frame(target))
}

fn frame(target: &Target) -> String {
    if target.frame.is_empty() {
        return String::new();
    }
    let each: Vec<String> =
        target.frame.iter().map(|step| format!("({}, {})", quote(&step.name), quote(&step.url))).collect();
    format!(", frame=[{}]", each.join(", "))
}

fn value(parts: &Parts) -> String {
    expression(parts, Language::Python)
}

fn quote(text: &str) -> String {
    literal(text, Language::Python)
}
