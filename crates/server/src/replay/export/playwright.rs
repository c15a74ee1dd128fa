//! The test of Playwright.

use std::collections::BTreeSet;

use super::acts::{Act, ActWhat, Address, Dialog, Follows, Target};
use super::locators::{file_field, has_container, is_any_control, locator};
use super::script::{Script, ScriptStep};
use super::words::{Language, Parts, comment, expression, literal};

/// The functions that a test may use, in parts with their names.
const HELPERS: &str = include_str!("helpers.ts");
/// Seconds for which Playwright waits for an effect by itself.
const EFFECT: u32 = 5;

/// A routine as a test.
pub(super) fn text(script: &Script<'_>) -> String {
    let mut test = Test { script, out: String::new(), used: BTreeSet::new(), count: 0 };
    for step in &script.steps {
        test.step(step);
    }
    test.whole()
}

struct Test<'t> {
    script: &'t Script<'t>,
    /// The lines of the steps.
    out: String,
    /// Functions that they use.
    used: BTreeSet<&'static str>,
    /// Number of variables for what an action opens.
    count: u32,
}

impl Test<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&format!("{:1$}{text}\n", "", 2 * depth));
    }

    fn step(&mut self, step: &ScriptStep<'_>) {
        let title = quote(&format!("Step {}: {}", step.n, step.title));
        self.line(1, &format!("await test.step({title}, async () => {{"));
        self.out.push_str(&comment(&step.text, "//", 4));
        match &step.acts {
            Err(why) => {
                let problem = format!("Step {} is not exported: {why}", step.n);
                self.out.push_str(&comment(&format!("TODO: {problem}. Write it here."), "//", 4));
                self.line(2, &format!("throw new Error({});", quote(&problem)));
            }
            Ok(acts) => {
                let condition = acts.first().filter(|_| step.if_shown).and_then(|act| self.condition(step.n, act));
                if let Some(condition) = condition {
                    self.line(2, &format!("if (!(await {condition})) return;"));
                }
                for act in acts {
                    self.act(act);
                }
                for name in &step.reads {
                    let todo =
                        format!("TODO: the value {name} is read from the page by a model; it is not used below.");
                    self.out.push_str(&comment(&todo, "//", 4));
                }
            }
        }
        self.line(1, "});");
    }

    /// Whether an optional step applies.
    fn condition(&mut self, n: u32, act: &Act) -> Option<String> {
        let own = self.locator(&self.page(act.tab), act.element.as_ref()?);
        self.used.insert("isShown");
        let is_top = act.element.as_ref().is_some_and(|target| target.frame.is_empty());
        let after = self.script.after(n, act.tab).filter(|_| is_top).cloned();
        let after = after.map(|target| self.locator(&self.page(act.tab), &target));
        Some(format!("isShown({own}{})", after.map(|after| format!(", {after}")).unwrap_or_default()))
    }

    fn page(&self, tab: u64) -> String {
        if tab == self.script.first_tab() { "page".to_owned() } else { format!("tab{tab}") }
    }

    fn locator(&mut self, page: &str, target: &Target) -> String {
        if has_container(target) {
            self.used.insert("within");
        }
        if is_any_control(target) {
            self.used.insert("control");
        }
        locator(page, target)
    }

    fn next(&mut self, name: &str) -> String {
        self.count += 1;
        format!("{name}{}", self.count)
    }

    fn act(&mut self, act: &Act) {
        let page = self.page(act.tab);
        let mut opened = Vec::new();
        // Waiting begins before the action.
        for effect in &act.effects {
            let (name, event, at) = match effect {
                Follows::Tab { .. } if !matches!(act.what, ActWhat::OpenTab { .. }) => ("popup", "popup", page.clone()),
                Follows::Download(_) => ("download", "download", page.clone()),
                Follows::TabClosed(tab) if !matches!(act.what, ActWhat::CloseTab) => {
                    ("closed", "close", self.page(*tab))
                }
                _ => {
                    opened.push(String::new());
                    continue;
                }
            };
            let name = self.next(name);
            self.line(2, &format!("const {name} = {at}.waitForEvent(\"{event}\");"));
            opened.push(name);
        }
        let calls = self.calls(&page, act);
        if act.dialogs.is_empty() {
            calls.iter().for_each(|call| self.line(2, &format!("{call};")));
        } else {
            self.used.insert("answerDialogs");
            let answers: Vec<String> = act.dialogs.iter().map(answer).collect();
            let call = calls.first().map(|call| format!(", {}", call.trim_start_matches("await "))).unwrap_or_default();
            self.line(2, &format!("await Promise.all([answerDialogs({page}, [{}]){call}]);", answers.join(", ")));
        }
        for (effect, name) in act.effects.iter().zip(&opened) {
            self.effect(&page, effect, name);
        }
    }

    /// The calls that do an action.
    fn calls(&mut self, page: &str, act: &Act) -> Vec<String> {
        let element = act.element.as_ref().map(|target| self.locator(page, target));
        let on =
            |call: &str| element.as_ref().map(|element| vec![format!("await {element}.{call}")]).unwrap_or_default();
        let list = |all: &[Parts]| all.iter().map(value).collect::<Vec<_>>().join(", ");
        match &act.what {
            ActWhat::Click { button, double, modifiers } => {
                let mut options = Vec::new();
                if button != "left" {
                    options.push(format!("button: {}", quote(button)));
                }
                if !modifiers.is_empty() {
                    let all: Vec<String> = modifiers.iter().map(|one| quote(one)).collect();
                    options.push(format!("modifiers: [{}]", all.join(", ")));
                }
                let options = if options.is_empty() { String::new() } else { format!("{{ {} }}", options.join(", ")) };
                on(&format!("{}({options})", if *double { "dblclick" } else { "click" }))
            }
            ActWhat::Fill(text) => on(&format!("fill({})", value(text))),
            ActWhat::Check(is_on) => on(&format!("setChecked({is_on})")),
            ActWhat::Select(values) => on(&format!("selectOption([{}])", list(values))),
            ActWhat::Press { key, times } => {
                let times = usize::try_from(*times).unwrap_or(1);
                let call = format!("press({})", quote(key));
                let one = match &element {
                    Some(_) => on(&call),
                    None => vec![format!("await {page}.keyboard.{call}")],
                };
                if times > 3 && act.dialogs.is_empty() {
                    let call = one.first().cloned().unwrap_or_default();
                    return vec![format!("for (let times = 0; times < {times}; times++) {call}")];
                }
                one.iter().cycle().take(one.len() * times).cloned().collect()
            }
            ActWhat::Hover => on("hover()"),
            ActWhat::Drag(to) => {
                let to = self.locator(page, to);
                on(&format!("dragTo({to})"))
            }
            ActWhat::Upload(paths) => {
                let field = act.element.as_ref().map(|target| file_field(page, target));
                field.map(|field| vec![format!("await {field}.setInputFiles([{}])", list(paths))]).unwrap_or_default()
            }
            ActWhat::Open(url) => vec![format!("await {page}.goto({})", value(url))],
            ActWhat::OpenTab { url, .. } => {
                vec![format!("{page} = await context.newPage()"), format!("await {page}.goto({})", value(url))]
            }
            ActWhat::Back => vec![format!("await {page}.goBack()")],
            ActWhat::Forward => vec![format!("await {page}.goForward()")],
            ActWhat::Reload => vec![format!("await {page}.reload()")],
            ActWhat::CloseTab => vec![format!("await {page}.close()")],
            ActWhat::Dialogs => Vec::new(),
        }
    }

    /// What follows from an action. `name`: the variable that waits for it.
    fn effect(&mut self, page: &str, effect: &Follows, name: &str) {
        match effect {
            Follows::Address(address) => self.is_at(page, address),
            Follows::Tab { tab, address } => {
                let tab = self.page(*tab);
                if !name.is_empty() {
                    self.line(2, &format!("{tab} = await {name};"));
                }
                if let Some(address) = address {
                    self.is_at(&tab, address);
                }
            }
            Follows::TabClosed(_) if name.is_empty() => {}
            Follows::TabClosed(_) => self.line(2, &format!("await {name};")),
            Follows::Download(filename) => {
                let file = format!("(await {name}).suggestedFilename()");
                let has_digits = filename.chars().any(|c| c.is_ascii_digit());
                let line = match has_digits {
                    true => {
                        let plain: String = filename.chars().filter(|c| !c.is_ascii_digit()).collect();
                        format!("expect({file}.replace(/\\d/g, \"\")).toBe({});", quote(&plain))
                    }
                    false => format!("expect({file}).toBe({});", quote(filename)),
                };
                self.line(2, &line);
            }
        }
    }

    fn is_at(&mut self, page: &str, address: &Address) {
        self.used.insert("isAt");
        let query = address.query.iter().map(|(name, part)| format!("{}: {}", quote(name), value(part)));
        let query: Vec<String> = query.collect();
        let query = if query.is_empty() { String::new() } else { format!(", {{ {} }}", query.join(", ")) };
        let patience = self.script.patience;
        let timeout = if patience > EFFECT { format!(", {{ timeout: {patience}_000 }}") } else { String::new() };
        let base = value(&address.base);
        self.line(2, &format!("await expect({page}).toHaveURL(isAt({base}{query}){timeout});"));
    }

    /// The file.
    fn whole(mut self) -> String {
        let (script, source) = (self.script, self.script.source);
        let steps = std::mem::take(&mut self.out);
        let mut out = String::new();
        let head = format!(
            "{}\nMade by cdpilot from version {} of the routine {:?}.\nIt begins in an empty context: log in before, or give storageState, if it needs a login.",
            source.routine.goal, source.version, source.name
        );
        out.push_str(&comment(&head, "//", 0));
        for one in script.omitted() {
            out.push_str(&comment(&format!("TODO: step {}: {}.", one.step, one.why), "//", 0));
        }
        let mut types = vec!["expect", "test"];
        let has_scopes = self.used.contains("within") || self.used.contains("control");
        if has_scopes {
            types.push("type FrameLocator");
            self.used.insert("Scope");
        }
        if has_scopes || self.used.contains("isShown") {
            types.push("type Locator");
        }
        let tabs = script.more_tabs();
        if has_scopes || self.used.contains("answerDialogs") || !tabs.is_empty() {
            types.push("type Page");
        }
        out.push_str(&format!("import {{ {} }} from '@playwright/test';\n", types.join(", ")));
        if !script.variables.is_empty() {
            out.push('\n');
        }
        for variable in &script.variables {
            let (name, environment) = (&variable.name, quote(&variable.environment));
            let value = match (variable.is_secret(), &variable.default) {
                (true, _) | (false, None) => {
                    self.used.insert("secret");
                    format!("secret({environment})")
                }
                (false, Some(default)) => format!("process.env[{environment}] ?? {}", quote(default)),
            };
            out.push_str(&format!("const {name} = {value};\n"));
        }
        let start = value(&script.start);
        if steps.contains("encoded(") || start.contains("encoded(") {
            self.used.insert("encoded");
        }
        let actions: usize = script.steps.iter().filter_map(|step| step.acts.as_ref().ok()).map(Vec::len).sum();
        let limit = 30 + u64::from(script.patience) * u64::try_from(actions).unwrap_or(1);
        out.push_str(&format!("\ntest({}, async ({{ page", quote(&source.routine.goal)));
        out.push_str(if steps.contains("context.newPage()") { ", context })" } else { " })" });
        out.push_str(&format!(" => {{\n  test.setTimeout({limit}_000);\n"));
        for tab in tabs {
            out.push_str(&format!("  let tab{tab}: Page;\n"));
        }
        out.push_str(&format!("  page.setDefaultTimeout({}_000);\n  await page.goto({start});\n", script.patience));
        out.push_str(&steps);
        out.push_str("});\n");
        for part in HELPERS.split("//- ").skip(1) {
            if let Some((name, text)) = part.split_once('\n').filter(|(name, _)| self.used.contains(name)) {
                debug_assert!(!name.is_empty());
                out.push_str(&format!("\n{}\n", text.trim_end()));
            }
        }
        out
    }
}

fn answer(dialog: &Dialog) -> String {
    let text = dialog.text.as_ref().filter(|_| dialog.accept).map(|text| format!(", text: {}", value(text)));
    format!(
        "{{ type: {}, message: {}, accept: {}{} }}",
        quote(&dialog.kind),
        value(&dialog.message),
        dialog.accept,
        text.unwrap_or_default()
    )
}

fn value(parts: &Parts) -> String {
    expression(parts, Language::TypeScript)
}

fn quote(text: &str) -> String {
    literal(text, Language::TypeScript)
}
