//! The plays. Each follows the instruction of its test, and takes names and values from it; a play is found by words of the
//! instruction.

mod bluebook;
mod cloudstack;
mod dataflow;
mod dialogs;
mod finviz;
mod flaky;
mod gbr;
mod northstar;
mod obedient;
mod others;
mod payment;
mod routines;
mod techforum;

use super::hands::{Done, Hands};
use super::talk::Role;

/// A play, and words that only the instruction of its test contains.
type Known = (&'static str, fn(&mut Hands) -> Done);

/// The plays of all sites.
const ALL: [&[Known]; 10] = [
    bluebook::PLAYS,
    cloudstack::PLAYS,
    dataflow::PLAYS,
    dialogs::PLAYS,
    finviz::PLAYS,
    flaky::PLAYS,
    gbr::PLAYS,
    northstar::PLAYS,
    payment::PLAYS,
    techforum::PLAYS,
];

/// Runs the play for a task. Returns the last message.
pub(super) fn play(role: Role, hands: &mut Hands) -> Done<String> {
    match role {
        Role::Nothing => Ok("There is nothing to do.".to_owned()),
        Role::Random(seed) => others::at_random(hands, seed).map(|()| "I clicked.".to_owned()),
        Role::Addresses => others::all_addresses(hands).map(|()| "I opened all addresses.".to_owned()),
        Role::Obedient => obedient::obey(hands),
        Role::Oracle(_) if hands.task.starts_with("# Workflow:") => routines::follow(hands),
        Role::Oracle(_) => {
            let known = ALL.into_iter().flatten().find(|(words, _)| hands.task.contains(words));
            let Some((_, play)) = known else { return hands.lost("no play for this task") };
            hands.begin()?;
            play(hands)?;
            Ok("Done.".to_owned())
        }
    }
}
