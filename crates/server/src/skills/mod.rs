//! Skills: texts that say how something is done, each in a folder `skills/NAME` of the home with a `SKILL.md`. One is part of the program.
//!
//! | file | contents |
//! |---|---|
//! | `head` | name, description, requirements and origin of a skill |

mod head;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

pub use head::Head;

use crate::config::{Home, lock_file, replace_file};
use cdpilot::code::Code;
use cdpilot::redact::Secrets;
use cdpilot::sync::Deadline;

/// The file that every skill has.
pub const SKILL: &str = "SKILL.md";
/// The origin of what a person wrote, in a skill that others have changed.
const PERSON: &str = "person";
/// How long another process may hold the lock.
const LOCK: Duration = Duration::from_secs(10);
/// The origin of a skill that a model wrote without having read anything.
pub const AGENT: &str = "agent";
/// The origin of a skill that was brought from elsewhere.
pub const ELSEWHERE: &str = "elsewhere";
/// The origin of the skill that is part of the program.
pub const BUILT_IN: &str = "cdpilot";
/// Largest file, and largest skill, in bytes.
const MOST_FILE: u64 = 100 * 1024;
const MOST_SKILL: u64 = 1024 * 1024;
/// Most files of a skill, most skills, and most folders around a file.
const MOST_FILES: usize = 100;
const MOST_SKILLS: usize = 500;
const DEEPEST: usize = 3;
/// Longest name, description and requirement, in characters.
const MOST_NAME: usize = 64;
const MOST_DESCRIPTION: usize = 300;

const OWN: (&str, &str) = ("cdpilot-browser", include_str!("../../../../skills/cdpilot-browser/SKILL.md"));

/// Why a skill cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such skill or file.
    #[error("there is no {0}; list the skills for their names")]
    NotFound(String),
    /// The text or name is not accepted.
    #[error("nothing was changed: {0}")]
    Refused(String),
    /// There is one of this name or kind.
    #[error("nothing was changed: {0}")]
    Known(String),
    /// It belongs to a person or to the program.
    #[error("nothing was changed: {0}")]
    NotYours(String),
    /// It is too large.
    #[error("nothing was changed: {0}")]
    TooLarge(String),
    /// Another process holds the lock.
    #[error("the skills are being changed by another process; try again")]
    Busy,
    /// A file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        problem: String,
    },
}

impl Error {
    /// Its code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::NotFound,
            Self::Refused(_) => Code::BadRequest,
            Self::Known(_) | Self::Busy => Code::Conflict,
            Self::NotYours(_) => Code::PathRefused,
            Self::TooLarge(_) => Code::TooLarge,
            Self::File { .. } => Code::Internal,
        }
    }
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its head, with its origin.
    pub head: Head,
    /// The text behind the head.
    pub body: String,
    /// Its other files, as paths below its folder.
    pub files: Vec<String>,
}

/// The skills of a home. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Skills {
    folder: PathBuf,
}

impl Skills {
    /// The skills of a home.
    #[must_use]
    pub fn of(home: &Home) -> Self {
        Self { folder: home.skills() }
    }

    /// All skills by name, and the folders that are none with the reason. The one of the program is replaced by one of the same name.
    #[must_use]
    pub fn all(&self) -> (Vec<Skill>, Vec<(String, String)>) {
        let (mut all, mut faulty) = (Vec::new(), Vec::new());
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        for name in names.into_iter().take(MOST_SKILLS) {
            match self.get(&name) {
                Ok(skill) => all.push(skill),
                Err(problem) => faulty.push((name, problem.to_string())),
            }
        }
        if !all.iter().any(|skill| skill.head.name == OWN.0) {
            all.extend(own());
        }
        (all, faulty)
    }

    /// A skill.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Refused`] for a head that is not valid, [`Error::File`].
    pub fn get(&self, name: &str) -> Result<Skill, Error> {
        checked_name(name)?;
        let Some(text) = self.read(name, SKILL)? else {
            return own().filter(|own| own.head.name == name).ok_or_else(|| Error::NotFound(format!("skill {name:?}")));
        };
        let (head, body) =
            head::split(&text).map_err(|problem| Error::Refused(format!("skill {name:?}: {problem}")))?;
        let head = Head { name: name.to_owned(), ..head };
        Ok(Skill { body: body.to_owned(), files: self.files(name), head })
    }

    /// A file of a skill.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Refused`] for a path that leads out of the skill, [`Error::File`].
    pub fn file(&self, name: &str, file: &str) -> Result<String, Error> {
        checked_name(name)?;
        let file = checked_path(file)?;
        self.read(name, &file)?.ok_or_else(|| Error::NotFound(format!("file {file:?} in the skill {name:?}")))
    }

    /// Creates a skill from its text with head. `origin`: as in [`Head::origin`]. One like it must not be there, unless `despite`.
    ///
    /// # Errors
    /// [`Error::Known`], [`Error::Refused`], [`Error::TooLarge`], [`Error::File`].
    pub fn create(
        &self,
        name: &str,
        text: &str,
        origin: &str,
        secrets: &Secrets,
        despite: bool,
    ) -> Result<Skill, Error> {
        let _lock = self.lock()?;
        checked_name(name)?;
        let (all, _) = self.all();
        if all.iter().any(|skill| skill.head.name == name) || self.folder.join(name).exists() {
            return Err(Error::Known(format!(
                "there is a skill {name:?} already; change that one, or choose another name"
            )));
        }
        let text = self.checked_skill(name, text, origin, secrets)?;
        let (head, _) = head::split(&text).map_err(Error::Refused)?;
        if let Some(like) = all.iter().find(|skill| are_alike(&skill.head, &head)).filter(|_| !despite) {
            return Err(Error::Known(format!(
                "the skill {:?} is like it ({}); patch that one, or pass despite_alike: true",
                like.head.name, like.head.description
            )));
        }
        if all.len() >= MOST_SKILLS {
            return Err(Error::TooLarge(format!("there are {MOST_SKILLS} skills; delete some")));
        }
        // Whole or not at all: the folder gets its name when its file is there.
        let made = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.folder);
        let made = made.map_err(|problem| failed(&self.folder, problem))?;
        let path = made.path().join(SKILL);
        replace_file(&path, text.as_bytes()).map_err(|problem| failed(&path, problem))?;
        fs::rename(made.path(), self.folder.join(name)).map_err(|problem| match self.folder.join(name).exists() {
            true => Error::Known(format!("there is a skill {name:?} already; change that one, or choose another name")),
            false => failed(&self.folder, problem),
        })?;
        self.get(name)
    }

    /// Replaces the text of a skill that a model wrote.
    ///
    /// # Errors
    /// [`Error::NotYours`], and as [`create`](Self::create).
    pub fn edit(&self, name: &str, text: &str, origin: &str, secrets: &Secrets) -> Result<Skill, Error> {
        let _lock = self.lock()?;
        let skill = self.of_a_model(name, "be rewritten; use patch")?;
        let text = self.checked_skill(name, text, &both(&skill.head.origin, origin), secrets)?;
        self.put(name, SKILL, &text)?;
        self.get(name)
    }

    /// Replaces one occurrence of a text in a skill. A person's skill stays one, with the origin of the change added.
    ///
    /// # Errors
    /// [`Error::Refused`] for a text that is there never or more than once, and as [`create`](Self::create).
    pub fn patch(&self, name: &str, (old, new): (&str, &str), origin: &str, secrets: &Secrets) -> Result<Skill, Error> {
        let _lock = self.lock()?;
        let skill = self.get(name)?;
        if skill.head.origin == BUILT_IN {
            return Err(Error::NotYours(format!("the skill {name:?} is part of cdpilot; create one of your own")));
        }
        let text = head::joined(&skill.head, &skill.body);
        let count = if old.is_empty() { 0 } else { text.matches(old).count() };
        if count != 1 {
            return Err(Error::Refused(format!("old_text is there {count} times; give a part that is there once")));
        }
        let text = self.checked_skill(name, &text.replacen(old, new, 1), &both(&skill.head.origin, origin), secrets)?;
        self.put(name, SKILL, &text)?;
        self.get(name)
    }

    /// Deletes a skill that a model wrote, with its files.
    ///
    /// # Errors
    /// [`Error::NotYours`], [`Error::NotFound`], [`Error::File`].
    pub fn delete(&self, name: &str) -> Result<(), Error> {
        self.of_a_model(name, "be deleted")?;
        self.remove(name)
    }

    /// Deletes any skill of the home: for people.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::File`].
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let _lock = self.lock()?;
        checked_name(name)?;
        let folder = self.inside(name, "")?;
        if !folder.is_dir() {
            return Err(Error::NotFound(format!("skill {name:?} in the home")));
        }
        // First out of sight, so that it is there whole or not at all.
        let gone = self.folder.join(format!(".gone-{name}-{:08x}", fastrand::u32(..)));
        fs::rename(&folder, &gone).and_then(|()| fs::remove_dir_all(&gone)).map_err(|problem| failed(&folder, problem))
    }

    /// Writes a further file of a skill. In a skill of a person only a new one.
    ///
    /// # Errors
    /// [`Error::NotYours`], [`Error::Refused`], [`Error::TooLarge`], [`Error::File`].
    pub fn write_file(&self, name: &str, file: &str, text: &str, secrets: &Secrets) -> Result<Skill, Error> {
        let _lock = self.lock()?;
        let file = checked_path(file)?;
        let skill = self.get(name)?;
        if file == SKILL {
            return Err(Error::Refused(format!("{SKILL} is changed with patch or edit")));
        }
        if self.read(name, &file)?.is_some() || skill.head.origin == BUILT_IN {
            self.of_a_model(name, "have files replaced")?;
        }
        checked_text(text, secrets)?;
        if skill.files.len() >= MOST_FILES {
            return Err(Error::TooLarge(format!("a skill has at most {MOST_FILES} files")));
        }
        let used: u64 = self.size(name, &file);
        if used + text.len() as u64 > MOST_SKILL {
            return Err(Error::TooLarge("a skill has at most 1 MiB".to_owned()));
        }
        self.put(name, &file, text)?;
        self.get(name)
    }

    /// Removes a further file of a skill that a model wrote.
    ///
    /// # Errors
    /// [`Error::NotYours`], [`Error::NotFound`], [`Error::Refused`], [`Error::File`].
    pub fn remove_file(&self, name: &str, file: &str) -> Result<Skill, Error> {
        let _lock = self.lock()?;
        let file = checked_path(file)?;
        self.of_a_model(name, "have files removed")?;
        if file == SKILL || self.read(name, &file)?.is_none() {
            return Err(Error::NotFound(format!("further file {file:?} in the skill {name:?}")));
        }
        let path = self.inside(name, &file)?;
        fs::remove_file(&path).map_err(|problem| failed(&path, problem))?;
        self.get(name)
    }

    /// Writes skills into a folder, for other programs. Returns their names. Files that are there are not replaced.
    ///
    /// # Errors
    /// [`Error::Known`], [`Error::NotFound`], [`Error::File`].
    pub fn export(&self, folder: &Path, only: Option<&str>) -> Result<Vec<String>, Error> {
        let all = match only {
            Some(name) => vec![self.get(name)?],
            None => self.all().0,
        };
        if let Some(known) = all.iter().map(|skill| folder.join(&skill.head.name)).find(|path| path.exists()) {
            return Err(Error::Known(format!("{} is there already", known.display())));
        }
        for skill in &all {
            let name = &skill.head.name;
            let mut files = vec![(SKILL.to_owned(), head::joined(&skill.head, &skill.body))];
            for file in &skill.files {
                files.push((file.clone(), self.file(name, file)?));
            }
            for (file, text) in files {
                let path = folder.join(name).join(file);
                let parent = path.parent().unwrap_or(&path);
                fs::create_dir_all(parent)
                    .and_then(|()| fs::write(&path, text))
                    .map_err(|problem| failed(&path, problem))?;
            }
        }
        Ok(all.into_iter().map(|skill| skill.head.name).collect())
    }

    /// Brings a skill from a folder, marked as one from elsewhere.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`write_file`](Self::write_file).
    pub fn import(&self, folder: &Path, secrets: &Secrets) -> Result<Skill, Error> {
        let other = Self { folder: folder.parent().unwrap_or(folder).to_owned() };
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        checked_name(name)?;
        let text =
            other.read(name, SKILL)?.ok_or_else(|| Error::NotFound(format!("{SKILL} in {}", folder.display())))?;
        let files: Vec<(String, String)> = other
            .files(name)
            .into_iter()
            .map(|file| Ok((file.clone(), other.file(name, &file)?)))
            .collect::<Result<_, Error>>()?;
        self.create(name, &text, ELSEWHERE, secrets, true)?;
        for (file, text) in files {
            self.write_file(name, &file, &text, secrets).inspect_err(|_| drop(self.remove(name)))?;
        }
        self.get(name)
    }

    fn lock(&self) -> Result<fs::File, Error> {
        let path = self.folder.join(".lock");
        lock_file(&path, Deadline::after(LOCK)).map_err(|problem| failed(&path, problem))?.ok_or(Error::Busy)
    }

    fn of_a_model(&self, name: &str, what: &str) -> Result<Skill, Error> {
        let skill = self.get(name)?;
        let has_person = |origin: &str| origin.is_empty() || origin.split(", ").any(|one| one == PERSON);
        match &*skill.head.origin {
            origin if has_person(origin) => {
                Err(Error::NotYours(format!("a person wrote the skill {name:?}, so it cannot {what}")))
            }
            BUILT_IN => Err(Error::NotYours(format!("the skill {name:?} is part of cdpilot, so it cannot {what}"))),
            _ => Ok(skill),
        }
    }

    /// A text with head, as it may be stored.
    fn checked_skill(&self, name: &str, text: &str, origin: &str, secrets: &Secrets) -> Result<String, Error> {
        checked_text(text, secrets)?;
        let (head, body) = head::split(text).map_err(Error::Refused)?;
        if !head.name.is_empty() && head.name != name {
            return Err(Error::Refused(format!("its head has the name {:?}, not {name:?}", head.name)));
        }
        let description = head.description.split_whitespace().collect::<Vec<_>>().join(" ");
        if description.is_empty() || description.chars().count() > MOST_DESCRIPTION {
            return Err(Error::Refused(format!("description needs 1 to {MOST_DESCRIPTION} characters")));
        }
        if body.trim().is_empty() {
            return Err(Error::Refused("it has no text after its head".to_owned()));
        }
        let head = Head { name: name.to_owned(), description, origin: origin.to_owned(), ..head };
        Ok(head::joined(&head, body))
    }

    fn put(&self, name: &str, file: &str, text: &str) -> Result<(), Error> {
        let path = self.inside(name, file)?;
        let parent = path.parent().unwrap_or(&path);
        fs::create_dir_all(parent)
            .and_then(|()| replace_file(&path, text.as_bytes()))
            .map_err(|problem| failed(&path, problem))
    }

    /// A file of a skill; `None` if it is missing.
    fn read(&self, name: &str, file: &str) -> Result<Option<String>, Error> {
        let path = self.inside(name, file)?;
        match fs::metadata(&path) {
            Ok(facts) if facts.len() > MOST_FILE => {
                return Err(Error::TooLarge(format!("{file} is larger than 100 KiB")));
            }
            Ok(facts) if !facts.is_file() => return Ok(None),
            Ok(_) => {}
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(failed(&path, problem)),
        }
        fs::read_to_string(&path).map(Some).map_err(|problem| failed(&path, problem))
    }

    /// The path of a file, through folders only: no link leads out.
    fn inside(&self, name: &str, file: &str) -> Result<PathBuf, Error> {
        let mut path = self.folder.clone();
        for part in Path::new(name).join(file).components() {
            path.push(part);
            if fs::symlink_metadata(&path).is_ok_and(|facts| facts.file_type().is_symlink()) {
                return Err(Error::Refused(format!("{} is a link", path.display())));
            }
        }
        Ok(path)
    }

    fn files(&self, name: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut folders = vec![(PathBuf::new(), 0)];
        while let Some((below, depth)) = folders.pop() {
            let entries = fs::read_dir(self.folder.join(name).join(&below)).into_iter().flatten().flatten();
            for entry in entries {
                let Ok(file) = entry.file_name().into_string() else { continue };
                let path = below.join(&file);
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < DEEPEST && !file.starts_with('.') => {
                        folders.push((path, depth + 1))
                    }
                    Ok(kind) if kind.is_file() && all.len() < MOST_FILES => {
                        let shown = path.to_string_lossy().replace('\\', "/");
                        if shown != SKILL && checked_path(&shown).is_ok() {
                            all.push(shown);
                        }
                    }
                    _ => {}
                }
            }
        }
        all.sort();
        all
    }

    /// The bytes of a skill without one file.
    fn size(&self, name: &str, without: &str) -> u64 {
        let files = self.files(name).into_iter().chain([SKILL.to_owned()]).filter(|file| file != without);
        files.filter_map(|file| fs::metadata(self.folder.join(name).join(file)).ok()).map(|facts| facts.len()).sum()
    }
}

fn own() -> Option<Skill> {
    let (head, body) = head::split(OWN.1).ok()?;
    let head = Head { name: OWN.0.to_owned(), origin: BUILT_IN.to_owned(), ..head };
    Some(Skill { head, body: body.to_owned(), files: Vec::new() })
}

/// The origin of a text of two. A person's stays empty only if nobody else has changed it.
fn both(one: &str, other: &str) -> String {
    match one {
        "" => format!("{PERSON}, {other}"),
        one if one.split(", ").any(|known| known == other) => one.to_owned(),
        one => format!("{one}, {other}"),
    }
}

fn checked_name(name: &str) -> Result<(), Error> {
    let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = (1..=MOST_NAME).contains(&name.len()) && name.chars().all(valid) && !name.starts_with('-');
    fits.then_some(()).ok_or_else(|| {
        let name: String = name.chars().take(80).collect();
        Error::Refused(format!("{name:?} is no name of a skill: use 1 to {MOST_NAME} of a-z, 0-9 and -"))
    })
}

/// A path below a skill, with `/`.
fn checked_path(file: &str) -> Result<String, Error> {
    let bad = || {
        let file: String = file.chars().take(80).collect();
        Error::Refused(format!(
            "{file:?} is no path in a skill: use names of letters, digits, _, - and dots, in at most {DEEPEST} folders"
        ))
    };
    let file = file.replace('\\', "/");
    let parts: Vec<&str> = file.split('/').collect();
    let valid = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let fits = parts.len() <= DEEPEST + 1
        && parts.iter().all(|part| {
            !part.is_empty() && part.len() <= MOST_NAME && !part.starts_with('.') && part.chars().all(valid)
        })
        && Path::new(&file).components().all(|part| matches!(part, Component::Normal(_)));
    if fits { Ok(file) } else { Err(bad()) }
}

fn checked_text(text: &str, secrets: &Secrets) -> Result<(), Error> {
    if text.len() as u64 > MOST_FILE {
        return Err(Error::TooLarge("a file has at most 100 KiB".to_owned()));
    }
    if let Some(odd) = crate::memory::unseen_in(text) {
        return Err(Error::Refused(format!("it has an invisible character (U+{:04X})", u32::from(odd))));
    }
    if secrets.cover(text) != text {
        return Err(Error::Refused(
            "it has what looks like a secret; leave it out, or name one as {{secret:NAME}}".to_owned(),
        ));
    }
    Ok(())
}

/// Whether two skills are for the same: most words of the shorter name and description are in the other.
fn are_alike(one: &Head, other: &Head) -> bool {
    let words = |head: &Head| {
        let text = format!("{} {}", head.name, head.description).to_lowercase();
        let mut all: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() > 2)
            .map(ToOwned::to_owned)
            .collect();
        all.sort();
        all.dedup();
        all
    };
    let (one, other) = (words(one), words(other));
    let common = one.iter().filter(|word| other.contains(word)).count();
    let shorter = one.len().min(other.len());
    shorter > 0 && common * 10 >= shorter * 7
}

fn failed(path: &Path, problem: impl ToString) -> Error {
    Error::File { path: path.display().to_string(), problem: problem.to_string() }
}
