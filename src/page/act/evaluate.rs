//! Scripts of callers.
//!
//! A script runs in the main world of the frame, with the page's variables. It is tried as an expression; if its value
//! is a function, the function is called, with the element of the ref if there is one. A script that does not parse as
//! an expression is tried as one in an async function (for `await`), then as the body of such a function. Only a form
//! that parses runs, and nothing runs twice. Promises are awaited. With a ref, all three forms see the element as
//! `element`.

use std::time::Instant;

use super::super::world::{Node, gone};
use super::super::{Error, Tab};
use super::actionability::Needs;
use super::{Act, Locator, Performed};
use crate::cdp::protocol::dom::{DescribeNode, ResolveNode};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::runtime::{CallArgument, CallFunctionOn, CompileScript, RemoteObjectId};
use crate::supervisor::{self, Done, FrameRef, Value};
use crate::sync::Deadline;

/// What a script parsed as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// An expression.
    Expression,
    /// The body of a function.
    Body,
}

/// The hint for statements without a value.
const UNRETURNED: &str =
    "the script ran as the body of a function and returned nothing; `return` a value, or write one expression";

impl Tab {
    /// Runs a script in the page's own world of a frame, by its id or the ref of its `<iframe>`; `None`: the top frame. The
    /// script is an expression, a function that is called, or the body of an async function; promises are awaited. Neither
    /// waits for a turn nor for the effects of the script: for those there is [`Act::evaluate`](super::Act::evaluate).
    ///
    /// # Errors
    /// [`Error::BadRequest`] for a script that is empty or does not parse, [`Error::Supervisor`] with `Script` for one that
    /// throws, and those of [`Supervisor::evaluate`](supervisor::Supervisor::evaluate).
    pub fn evaluate(&self, script: &str, frame: Option<&str>, deadline: Deadline<'_>) -> Result<Done<Value>, Error> {
        if script.trim().is_empty() {
            return Err(Error::BadRequest {
                problem: "the script is empty; give an expression or a function".to_owned(),
            });
        }
        self.arrived(deadline)?;
        let frame = match frame {
            Some(frame) => self.frame_named(frame, deadline)?,
            None => self.top()?,
        };
        self.evaluate_in(&frame, script, deadline)
    }

    /// Runs a script in a frame, or with an element.
    pub(super) fn run_script(
        &self,
        script: &str,
        reference: Option<&str>,
        frame_id: Option<&str>,
        act: &Act,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        if script.trim().is_empty() {
            return Err(Error::BadRequest {
                problem: "fn is empty; give an expression, a function or a function body".to_owned(),
            });
        }
        let (value, form) = match reference {
            Some(reference) => {
                let ready = self.ready(&Locator::by_ref(reference), Needs::PRESENT, act.force, deadline)?;
                self.evaluate_with(&ready.node, script, act.read_only, deadline)?
            }
            None => {
                let frame = match frame_id {
                    Some(id) => FrameId::from(id),
                    None => self.top()?,
                };
                self.evaluate_form(&frame, script, act.read_only, deadline)?
            }
        };
        let is_unreturned = form == Form::Body && value.result.kind == "undefined" && !script.contains("return");
        Ok(Performed {
            result: Some(value.result.value),
            rescued: value.rescued,
            hint: is_unreturned.then_some(UNRETURNED),
            ..Performed::default()
        })
    }

    /// Runs a script in the main world of a frame.
    pub(super) fn evaluate_in(
        &self,
        frame: &FrameId,
        script: &str,
        deadline: Deadline<'_>,
    ) -> Result<Done<Value>, Error> {
        self.evaluate_form(frame, script, false, deadline).map(|(value, _)| value)
    }

    fn evaluate_form(
        &self,
        frame: &FrameId,
        script: &str,
        read_only: bool,
        deadline: Deadline<'_>,
    ) -> Result<(Done<Value>, Form), Error> {
        let at = FrameRef::Id(frame.clone());
        let run = |text: &str| match read_only {
            true => self.supervisor.evaluate_read_only(&at, text, deadline),
            false => self.supervisor.evaluate(&at, text, deadline),
        };
        let forms = if read_only { reading_expressions(script) } else { expressions(script).to_vec() };
        self.first_that_parses(&at, &forms, script, run, deadline)
    }

    /// Runs a script in the main world of a node's frame, with the node as `element`.
    fn evaluate_with(
        &self,
        node: &Node,
        script: &str,
        read_only: bool,
        deadline: Deadline<'_>,
    ) -> Result<(Done<Value>, Form), Error> {
        let at = FrameRef::Id(node.frame.clone());
        let element = self.in_main_world(node, deadline)?;
        let run = |text: &str| {
            let mut call = CallFunctionOn::new(text);
            let argument = CallArgument { object_id: Some(element.clone()), ..CallArgument::default() };
            call.object_id = Some(element.clone());
            call.arguments = Some(vec![argument]);
            call.await_promise = Some(true);
            call.user_gesture = Some(true);
            match read_only {
                true => self.supervisor.call_function_read_only(&at, &call, deadline),
                false => self.supervisor.call_function(&at, &call, deadline),
            }
        };
        let forms = if read_only { reading_functions(script) } else { functions(script).to_vec() };
        let outcome = self.first_that_parses(&at, &forms, script, run, deadline);
        self.release(&node.frame, element);
        outcome
    }

    fn first_that_parses(
        &self,
        at: &FrameRef,
        forms: &[String],
        script: &str,
        run: impl Fn(&str) -> Result<Done<Value>, supervisor::Error>,
        deadline: Deadline<'_>,
    ) -> Result<(Done<Value>, Form), Error> {
        let began = Instant::now();
        let mut refused = Error::BadRequest { problem: "fn is not valid JavaScript".to_owned() };
        for (index, form) in forms.iter().enumerate() {
            match run(form) {
                // A script that throws a syntax error itself (`JSON.parse`) has run; one that does not parse has not.
                Err(supervisor::Error::Script(thrown))
                    if thrown.message.starts_with("SyntaxError") && !self.parses(at, form, deadline)? =>
                {
                    // The wrapper adds one line before the script.
                    let line = thrown.line.saturating_sub(1).max(0);
                    refused = supervisor::Error::Script(supervisor::ScriptError { line, ..thrown }).into();
                }
                // An awaited script is cut off when its frame navigates.
                Err(supervisor::Error::Cdp(error)) if error.is_timeout() => {
                    let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                    let what = "the script's promise to settle".to_owned();
                    return Err(Error::Timeout { what, after_ms });
                }
                outcome => {
                    let form = if index + 1 == forms.len() { Form::Body } else { Form::Expression };
                    return outcome.map(|value| (value, form)).map_err(|error| gone_in(at, error));
                }
            }
        }
        Err(self.syntax_error(at, script, deadline).unwrap_or(refused))
    }

    /// The syntax error of a script by itself: that of a wrapped form may name characters of the wrapper. `None` when the
    /// script is only invalid outside a function.
    fn syntax_error(&self, at: &FrameRef, script: &str, deadline: Deadline<'_>) -> Option<Error> {
        let compile = CompileScript::new(script.to_owned(), "", false);
        let details = self.supervisor.session_call(at, &compile, deadline).ok()?.result.exception_details?;
        let message = details.exception.and_then(|thrown| thrown.description).unwrap_or(details.text);
        let message = message.lines().next().unwrap_or_default().to_owned();
        if message.contains("Illegal return") || message.contains("await") {
            return None;
        }
        let (line, column) = (details.line_number, details.column_number);
        Some(supervisor::Error::Script(supervisor::ScriptError { message, line, column }).into())
    }

    fn parses(&self, at: &FrameRef, form: &str, deadline: Deadline<'_>) -> Result<bool, Error> {
        let compile = CompileScript::new(format!("({form}\n)"), "", false);
        let compiled = self.supervisor.session_call(at, &compile, deadline)?;
        Ok(compiled.result.exception_details.is_none())
    }

    /// A handle of a node in the main world. The caller must release it.
    fn in_main_world(&self, node: &Node, deadline: Deadline<'_>) -> Result<RemoteObjectId, Error> {
        let ours = self.object(node, deadline)?;
        let at = FrameRef::Id(node.frame.clone());
        let mut describe = DescribeNode::new();
        describe.object_id = Some(ours.clone());
        let described = self.supervisor.session_call(&at, &describe, deadline);
        self.release(&node.frame, ours);
        let mut resolve = ResolveNode::new();
        resolve.backend_node_id = Some(described?.result.node.backend_node_id);
        let resolved = self.supervisor.session_call(&at, &resolve, deadline)?;
        let gone = || Error::DocumentGone { frame: node.frame.to_string() };
        resolved.result.object.object_id.ok_or_else(gone)
    }
}

fn gone_in(at: &FrameRef, error: supervisor::Error) -> Error {
    match at {
        FrameRef::Id(frame) => gone(error, frame),
        _ => error.into(),
    }
}

/// An expression may end with semicolons.
fn as_expression(script: &str) -> &str {
    script.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

/// The forms of a script without an element, in the order in which they are tried.
fn expressions(script: &str) -> [String; 3] {
    let expression = as_expression(script);
    [
        format!("(v => typeof v === \"function\" ? v() : v)((\n{expression}\n))"),
        format!(
            "(async run => {{ const v = await run(); return typeof v === \"function\" ? v() : v; }})(async () => (\n{expression}\n))"
        ),
        format!("(async function() {{\n{script}\n}})()"),
    ]
}

/// Those of a script that may only read: nothing is awaited.
fn reading_expressions(script: &str) -> Vec<String> {
    let [expression, ..] = expressions(script);
    vec![expression, format!("(function() {{\n{script}\n}})()")]
}

/// The forms of a script as functions of an element, if it may only read.
fn reading_functions(script: &str) -> Vec<String> {
    let [expression, ..] = functions(script);
    vec![expression, format!("function(element) {{\n{script}\n}}")]
}

/// The forms of a script as functions of an element.
fn functions(script: &str) -> [String; 3] {
    let expression = as_expression(script);
    [
        format!(
            "function(element) {{ return (v => typeof v === \"function\" ? v(element) : v)((\n{expression}\n)); }}"
        ),
        format!(
            "function(element) {{ return (async run => {{ const v = await run(); \
             return typeof v === \"function\" ? v(element) : v; }})(async () => (\n{expression}\n)); }}"
        ),
        format!("async function(element) {{\n{script}\n}}"),
    ]
}
