//! The steps of a routine, with inputs and secrets as parts of texts.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::super::plan::{FastAction, FastStep, What, plan};
use super::acts::{Act, ActWhat, Address, Dialog, Follows, Target};
use super::variables::{Of, Variable, variables};
use super::words::{Part, Parts};
use super::{Omitted, Source};
use crate::record::FrameStep;
use crate::record::draft::{Anchor, DialogAnswer, Effect};
use crate::routine::{InstructionKind, PlaceholderKind, placeholders};
use cdpilot::redact::Secrets;

/// Enclose the name of an input where its value belongs, in texts of the plan. No page has these characters.
const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';
/// Shortest recorded value of an input that is replaced within a part of an address.
const SHORTEST: usize = 3;
/// How long an element or an effect is waited for, in seconds: at least, and so many times as long as the recorded page took.
const LEAST: f64 = 10.0;
const PATIENCE: f64 = 5.0;

/// A routine as a script does it.
#[derive(Debug)]
pub(super) struct Script<'s> {
    pub(super) source: &'s Source<'s>,
    pub(super) variables: Vec<Variable>,
    pub(super) start: Parts,
    pub(super) steps: Vec<ScriptStep<'s>>,
    /// Seconds for which an element or an effect is waited for.
    pub(super) patience: u32,
}

/// A step.
#[derive(Debug)]
pub(super) struct ScriptStep<'s> {
    pub(super) n: u32,
    pub(super) title: &'s str,
    /// Its instructions.
    pub(super) text: String,
    /// Whether it is done only when the element of its first action is shown.
    pub(super) if_shown: bool,
    /// What is done, in order; or why that needs a model.
    pub(super) acts: Result<Vec<Act>, String>,
    /// Values that it reads, which the script does not.
    pub(super) reads: Vec<String>,
}

impl<'s> Script<'s> {
    pub(super) fn of(source: &'s Source<'s>) -> Self {
        let variables = variables(source);
        let given: BTreeMap<String, String> = source
            .routine
            .inputs
            .iter()
            .filter(|input| !input.sensitive)
            .map(|input| (input.name.clone(), format!("{OPEN}{}{CLOSE}", input.name)))
            .collect();
        let plan = plan(source.routine, source.recorded, source.events, &given);
        let seconds = plan.steps.values().flat_map(|step| &step.actions).map(|action| action.seconds * PATIENCE);
        let patience = seconds.fold(LEAST, f64::max).min(120.0).ceil();
        let mut script = Self {
            source,
            variables,
            start: Vec::new(),
            steps: Vec::new(),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 10 to 120.
            patience: patience as u32,
        };
        script.start = script.written(&source.routine.starting_url);
        for step in &source.routine.steps {
            let text = step.instructions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n");
            let reads = step.instructions.iter().filter_map(|one| match &one.kind {
                InstructionKind::Read { name } => Some(name.clone()),
                _ => None,
            });
            let planned = plan.steps.get(&step.n).cloned().unwrap_or_default();
            let if_shown = planned.if_shown;
            let acts = script.acts(planned);
            let (title, reads) = (step.title.as_str(), reads.collect());
            script.steps.push(ScriptStep { n: step.n, title, text, if_shown, acts, reads });
        }
        script.answer_where_they_open();
        script
    }

    /// What the script does not do.
    pub(super) fn omitted(&self) -> Vec<Omitted> {
        let mut all = Vec::new();
        for step in &self.steps {
            let mut add = |why: String| all.push(Omitted { step: step.n, title: step.title.to_owned(), why });
            match &step.acts {
                Err(why) => add(why.clone()),
                Ok(_) => {
                    step.reads.iter().for_each(|name| add(format!("a model reads the value {name} from the page")))
                }
            }
        }
        all
    }

    /// Tabs besides the first one, in the order in which they are used.
    pub(super) fn more_tabs(&self) -> Vec<u64> {
        let first = self.first_tab();
        let acts = self.steps.iter().filter_map(|step| step.acts.as_ref().ok()).flatten();
        let used = acts.flat_map(|act| {
            let opened = if let ActWhat::OpenTab { tab, .. } = act.what { Some(tab) } else { None };
            let tabs = act.effects.iter().filter_map(|effect| match effect {
                Follows::Tab { tab, .. } | Follows::TabClosed(tab) => Some(*tab),
                _ => None,
            });
            std::iter::once(act.tab).chain(opened).chain(tabs)
        });
        used.filter(|tab| *tab != first).collect::<BTreeSet<u64>>().into_iter().collect()
    }

    /// The tab that shows the starting address.
    pub(super) fn first_tab(&self) -> u64 {
        let mut acts = self.steps.iter().filter_map(|step| step.acts.as_ref().ok()).flatten();
        acts.next().map_or(0, |act| act.tab)
    }

    /// The element of the first action of the next step that is not optional, in the same tab and the top document.
    pub(super) fn after(&self, n: u32, tab: u64) -> Option<&Target> {
        let next = self.steps.iter().find(|step| step.n > n && !step.if_shown)?;
        let act = next.acts.as_ref().ok()?.first()?;
        act.element.as_ref().filter(|target| act.tab == tab && target.frame.is_empty())
    }

    /// Moves the answers of a step that begins with a dialog to the action of the step before, which opens it.
    fn answer_where_they_open(&mut self) {
        for at in 1..self.steps.len() {
            let (before, rest) = self.steps.split_at_mut(at);
            let last = before.last_mut().and_then(|step| step.acts.as_mut().ok()).and_then(|acts| acts.last_mut());
            let first = rest.first_mut().and_then(|step| step.acts.as_mut().ok()).and_then(|acts| acts.first_mut());
            let Some((last, first)) = last.zip(first).filter(|(_, first)| matches!(first.what, ActWhat::Dialogs))
            else {
                continue;
            };
            if last.dialogs.is_empty() {
                last.dialogs = std::mem::take(&mut first.dialogs);
            } else if last.dialogs == first.dialogs {
                first.dialogs.clear();
            }
        }
    }

    /// The actions of a step.
    fn acts(&self, step: FastStep) -> Result<Vec<Act>, String> {
        if let Some(why) = step.needs_model {
            return Err(why);
        }
        if step.list.is_some() {
            return Err("it works through a list, whose entries a script does not know".to_owned());
        }
        let mut acts: Vec<Act> = Vec::new();
        let mut actions = step.actions.into_iter().peekable();
        while let Some(action) = actions.next() {
            let tab = action.tab;
            let mut effects = action.effects.clone();
            let mut dialogs = Vec::new();
            let element = action.element.as_ref().map(|anchor| self.target(anchor, &action.frame));
            let what = match &action.what {
                What::Dialog { answer } => {
                    dialogs.push(self.dialog(answer)?);
                    ActWhat::Dialogs
                }
                _ => self.what(&action)?,
            };
            while let Some(FastAction { what: What::Dialog { answer }, .. }) = actions.peek() {
                dialogs.push(self.dialog(answer)?);
                effects.extend(actions.next().map(|action| action.effects).unwrap_or_default());
            }
            let effects = effects.iter().filter_map(|effect| self.follows(effect)).collect();
            acts.push(Act { what, tab, element, dialogs, effects });
        }
        Ok(acts)
    }

    fn what(&self, action: &FastAction) -> Result<ActWhat, String> {
        Ok(match &action.what {
            What::Click { button, double, modifiers } => ActWhat::Click {
                button: word(button),
                double: *double,
                modifiers: modifiers.iter().map(word).collect(),
            },
            What::Fill { text } => ActWhat::Fill(self.typed(text)?),
            What::Check { on } => ActWhat::Check(*on),
            What::Select { values } => {
                ActWhat::Select(values.iter().map(|value| self.typed(value)).collect::<Result<_, _>>()?)
            }
            What::Press { key, times } => ActWhat::Press { key: key.clone(), times: *times },
            What::Hover => ActWhat::Hover,
            What::Drag { to } => ActWhat::Drag(Box::new(self.target(to, &action.frame))),
            What::Upload { paths } => {
                ActWhat::Upload(paths.iter().map(|path| self.typed(path)).collect::<Result<_, _>>()?)
            }
            What::Open { url } => ActWhat::Open(self.filled(url)),
            What::OpenTab { url } => ActWhat::OpenTab { url: self.filled(url), tab: action.tab },
            What::Back => ActWhat::Back,
            What::Forward => ActWhat::Forward,
            What::Reload => ActWhat::Reload,
            What::CloseTab => ActWhat::CloseTab,
            What::Dialog { .. } => ActWhat::Dialogs,
        })
    }

    fn target(&self, anchor: &Anchor, frame: &[FrameStep]) -> Target {
        let name = [&anchor.name, &anchor.label, &anchor.text].into_iter().find(|text| !text.trim().is_empty());
        let title = anchor.container.as_ref().map(|container| self.filled(&container.title)).unwrap_or_default();
        let name = name.map(|name| self.filled(name)).unwrap_or_default();
        Target { anchor: anchor.clone(), frame: frame.to_vec(), name, title }
    }

    fn dialog(&self, answer: &DialogAnswer) -> Result<Dialog, String> {
        let text = answer.prompt_text.as_deref().map(|text| self.typed(text)).transpose()?;
        let message = self.filled(&answer.message);
        Ok(Dialog { kind: answer.dialog.clone(), message, accept: answer.accepted, text })
    }

    fn follows(&self, effect: &Effect) -> Option<Follows> {
        Some(match effect {
            Effect::Url { url } => Follows::Address(self.address(url)?),
            Effect::Tab { tab, url } => Follows::Tab { tab: *tab, address: self.address(url) },
            Effect::TabClosed { tab } => Follows::TabClosed(*tab),
            Effect::Download { filename, .. } => Follows::Download(filename.clone()),
            Effect::Dialog(_) => return None,
        })
    }

    /// A recorded address, with the values of inputs in place of the recorded ones. `None` for one of no server.
    fn address(&self, url: &str) -> Option<Address> {
        let parsed = Url::parse(url).ok().filter(Url::has_host)?;
        let mut base = vec![Part::Text(parsed.origin().ascii_serialization())];
        for segment in parsed.path().split('/').skip(1) {
            base.push(Part::Text("/".to_owned()));
            base.extend(self.replaced(segment).into_iter().map(|part| match part {
                Part::Variable(name) => Part::Variable(format!("encoded({name})")),
                text => text,
            }));
        }
        let query = parsed.query_pairs().filter(|(_, value)| !value.contains(Secrets::COVER));
        let query = query.map(|(name, value)| (name.into_owned(), self.replaced(&value)));
        Some(Address { base: joined(base), query: query.collect() })
    }

    /// A part of a recorded address, with the values of inputs in place of the recorded ones.
    fn replaced(&self, recorded: &str) -> Parts {
        let inputs = &self.source.recorded.inputs;
        let mut marked = recorded.to_owned();
        for (name, was) in inputs.iter().filter(|(_, was)| !was.trim().is_empty()) {
            if marked.trim() == was.trim() {
                marked = format!("{OPEN}{name}{CLOSE}");
            } else if was.chars().count() >= SHORTEST && !marked.contains(OPEN) {
                marked = marked.replace(was.as_str(), &format!("{OPEN}{name}{CLOSE}"));
            }
        }
        self.filled(&marked)
    }

    /// A text of the plan.
    fn filled(&self, text: &str) -> Parts {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(OPEN) {
            let Some((name, after)) = after.split_once(CLOSE) else { break };
            parts.push(Part::Text(before.to_owned()));
            parts.extend(self.variable(&Of::Input(name.to_owned())).map(Part::Variable));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        joined(parts)
    }

    /// A text that is typed: secrets and inputs are variables.
    fn typed(&self, text: &str) -> Result<Parts, String> {
        let mut parts = Vec::new();
        let mut from = 0;
        for found in placeholders(text) {
            let of = match found.kind {
                PlaceholderKind::Secret(name) => Of::Secret(name),
                PlaceholderKind::Value { step, name } => {
                    return Err(format!("it uses the value {name} that step {step} reads from a page"));
                }
                _ => continue,
            };
            parts.extend(self.filled(text.get(from..found.range.start).unwrap_or_default()));
            let missing = || "it uses a secret that the routine does not declare".to_owned();
            parts.push(Part::Variable(self.variable(&of).ok_or_else(missing)?));
            from = found.range.end;
        }
        parts.extend(self.filled(text.get(from..).unwrap_or_default()));
        Ok(joined(parts))
    }

    /// The starting address, as it is written.
    fn written(&self, text: &str) -> Parts {
        let mut parts = Vec::new();
        let mut from = 0;
        for found in placeholders(text) {
            let PlaceholderKind::Input(name) = found.kind else { continue };
            let Some(variable) = self.variable(&Of::Input(name)) else { continue };
            let before = text.get(from..found.range.start).unwrap_or_default();
            // A host is no part that is encoded.
            let is_path = text.get(..found.range.start).unwrap_or_default().matches('/').count() > 2;
            let value = if is_path { format!("encoded({variable})") } else { variable };
            parts.extend([Part::Text(before.to_owned()), Part::Variable(value)]);
            from = found.range.end;
        }
        parts.push(Part::Text(text.get(from..).unwrap_or_default().to_owned()));
        joined(parts)
    }

    fn variable(&self, of: &Of) -> Option<String> {
        let is_it = |variable: &&Variable| match of {
            // A sensitive input is typed like a stored secret, by its own name.
            Of::Secret(name) => variable.of == *of || (variable.of == Of::Input(name.clone()) && variable.is_secret()),
            Of::Input(_) => variable.of == *of,
        };
        self.variables.iter().find(is_it).map(|variable| variable.name.clone())
    }
}

/// The name of a mouse button or of a modifier key.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(ToOwned::to_owned)).unwrap_or_default()
}

/// The same text in as few parts as possible.
fn joined(parts: Parts) -> Parts {
    let mut all: Parts = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (_, Part::Text(text)) if text.is_empty() => {}
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => all.push(part),
        }
    }
    all
}
