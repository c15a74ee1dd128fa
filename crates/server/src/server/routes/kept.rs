//! Routes for what is kept for later conversations: notes and skills.

use super::super::error::ApiError;
use super::Call;
use crate::api::{EditMemory, MemoryChanged, MemoryFile, MemoryShown, NoFields, SkillList, SkillShown};
use crate::memory::{Memory, Notes, PERSON, Target};
use crate::skills::Skills;

fn memory(call: &Call<'_>) -> Memory {
    Memory::of(call.context.control.home())
}

pub(super) fn notes(call: &Call<'_>, _: NoFields) -> Result<MemoryShown, ApiError> {
    let memory = memory(call);
    let read = |target: Target| Ok::<_, ApiError>(MemoryFile::of(target, memory.read(target)?));
    Ok(MemoryShown { memory: Target::ALL.into_iter().map(read).collect::<Result<_, _>>()? })
}

pub(super) fn edit(call: &Call<'_>, wanted: EditMemory) -> Result<MemoryChanged, ApiError> {
    let before = wanted.before.as_deref().map(Notes::parse);
    let notes = memory(call).edit(wanted.target, &wanted.text, before.as_ref(), call.deadline)?;
    Ok(MemoryChanged { memory: MemoryFile::of(wanted.target, notes) })
}

pub(super) fn undo(call: &Call<'_>, _: NoFields) -> Result<MemoryChanged, ApiError> {
    let (target, notes) = memory(call).undo(call.deadline)?;
    Ok(MemoryChanged { memory: MemoryFile::of(target, notes) })
}

pub(super) fn skills(call: &Call<'_>, _: NoFields) -> Result<SkillList, ApiError> {
    let (all, _) = Skills::of(call.context.control.home()).all();
    let shown = all.into_iter().map(|skill| {
        let origin = if skill.head.origin.is_empty() { PERSON.to_owned() } else { skill.head.origin };
        SkillShown { name: skill.head.name, description: skill.head.description, origin }
    });
    Ok(SkillList { skills: shown.collect() })
}
