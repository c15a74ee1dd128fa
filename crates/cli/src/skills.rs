//! `cdpilot skill`: saved instructions for models.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::{Out, clean, one_line};
use cdpilot::redact::Secrets;
use cdpilot_server::config::Home;
use cdpilot_server::skills::{Error, Skills};

const AFTER: &str = "\
Examples:
  cdpilot skill list
  cdpilot skill export ~/.claude/skills cdpilot-browser     how to drive a browser with cdpilot, for other agents
  cdpilot chat                                              then /NAME TASK follows a skill

A skill is a folder skills/NAME in the home with a SKILL.md: name and description between two lines ---, then the text. \
Models read skills with the toolset `skills`, and save new ones when you agree.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct SkillArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the skills, and those that cannot be read
    List,
    /// Print a skill
    Show {
        /// Name of the skill
        name: String,
    },
    /// Write skills into a folder, for other programs
    Export {
        /// The folder that gets a folder for each skill
        folder: PathBuf,
        /// Only this skill
        name: Option<String>,
    },
    /// Bring a skill from a folder that has a SKILL.md; it is marked as one from elsewhere
    Import {
        /// The folder, named as the skill
        folder: PathBuf,
    },
    /// Delete a skill with its files
    Remove {
        /// Name of the skill
        name: String,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

pub(super) fn run(args: &SkillArgs, out: &Out) -> Result<Exit, Failure> {
    let home = Home::find()?;
    home.prepare()?;
    let skills = Skills::of(&home);
    match &args.what {
        What::List => {
            let (all, faulty) = skills.all();
            let shown: Vec<_> = all.iter().map(|skill| json!(skill.head)).collect();
            let wrong: Vec<_> =
                faulty.iter().map(|(name, problem)| json!({ "name": name, "problem": problem })).collect();
            out.object(&json!({ "ok": true, "count": shown.len(), "skills": shown, "faulty": wrong }));
            let width = all.iter().map(|skill| skill.head.name.len()).max().unwrap_or_default();
            for skill in &all {
                let origin = if skill.head.origin.is_empty() { "person" } else { &skill.head.origin };
                out.line(&format!(
                    "{:width$}  {}  [{}]",
                    skill.head.name,
                    clean(&skill.head.description),
                    clean(origin)
                ));
            }
            for (name, problem) in &faulty {
                out.aside(&format!("{}: {}", clean(name), one_line(&clean(problem))));
            }
        }
        What::Show { name } => {
            let skill = skills.get(name)?;
            out.object(&json!({ "ok": true, "skill": skill.head, "text": skill.body, "files": skill.files }));
            out.text(&skill.body);
            for file in &skill.files {
                out.aside(&format!("file: {}", clean(file)));
            }
        }
        What::Export { folder, name } => {
            let names = skills.export(folder, name.as_deref())?;
            out.object(&json!({ "ok": true, "names": names, "folder": folder }));
            out.line(&format!("wrote {} to {}", names.join(", "), folder.display()));
        }
        What::Import { folder } => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let skill = skills.import(&folder, &Secrets::default())?;
            out.object(&json!({ "ok": true, "skill": skill.head, "files": skill.files }));
            out.line(&format!("added {}: {}", skill.head.name, clean(&skill.head.description)));
        }
        What::Remove { name } => {
            skills.remove(name)?;
            out.object(&json!({ "ok": true, "name": name }));
            out.line(&format!("removed {}", clean(name)));
        }
    }
    Ok(Exit::Done)
}
