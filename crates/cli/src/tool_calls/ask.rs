//! Questions of tools to the user at the terminal.

use std::io::{IsTerminal as _, stderr, stdin};
use std::sync::Arc;

use crossbeam_channel::{RecvTimeoutError, bounded};
use inquire::{InquireError, Text};

use super::super::output::clean;
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, spawn};
use cdpilot_server::tools::{AskUser, Question, ToolError};

/// The user at the terminal.
pub(super) struct TerminalUser;

impl TerminalUser {
    /// `None` without a terminal.
    pub(super) fn at_terminal() -> Option<Arc<dyn AskUser>> {
        (stdin().is_terminal() && stderr().is_terminal()).then(|| Arc::new(Self) as Arc<dyn AskUser>)
    }
}

impl AskUser for TerminalUser {
    fn ask(&self, question: &Question, deadline: Deadline<'_>) -> Result<String, ToolError> {
        let mut text = clean(&question.question).into_owned();
        for (at, choice) in question.choices.iter().enumerate() {
            text.push_str(&format!("\n  {}  {}", at + 1, clean(choice)));
        }
        let choices = question.choices.clone();
        let (send, answer) = bounded(1);
        let thread = spawn("cli-ask", move || drop(send.send(Text::new(&text).prompt())));
        let thread =
            thread.map_err(|problem| ToolError::new(Code::Internal, format!("cannot ask the user: {problem}")))?;
        let said = loop {
            match answer.recv_deadline(deadline.next_check()) {
                Ok(said) => break said,
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Err(_) => {
                    // The thread reads the terminal until the process ends.
                    std::mem::forget(thread);
                    return Err(ToolError::new(Code::Timeout, "the user did not answer in time"));
                }
            }
        };
        match said {
            Ok(said) => {
                let chosen = said.trim().parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
                Ok(chosen.cloned().unwrap_or(said))
            }
            Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => {
                Err(ToolError::new(Code::Cancelled, "the user declined to answer"))
            }
            Err(problem) => Err(ToolError::new(Code::Internal, format!("cannot ask the user: {problem}"))),
        }
    }
}
