// What the visitor likes, saves, follows and writes; kept while the browser tab is open.

const KEY = 'bluebook';

function load() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) || {};
  } catch {
    return {};
  }
}

const saved = load();
const sets = Object.fromEntries(['liked', 'collected', 'shared', 'followed', 'likedComments'].map((name) => [name, new Set(saved[name])]));
const written = saved.written || [];

function save() {
  const state = Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, [...set]]));
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...state, written }));
  } catch {
    // Without storage the state lasts until the page is left.
  }
}

export const has = (name, id) => sets[name].has(id);

/** All members as one text, in a fixed order. */
export const listOf = (name) => [...sets[name]].sort().join(',');

export function toggle(name, id) {
  const on = !sets[name].delete(id);
  if (on) sets[name].add(id);
  save();
  return on;
}

export function write(noteId, parentId, text) {
  written.push({ id: `own-${written.length + 1}`, noteId, parentId, text });
  save();
}

/** The visitor's own comments on a note (`parentId` null) or replies to a comment, newest first. */
export const writtenOn = (noteId, parentId) =>
  written.filter((entry) => entry.noteId === noteId && entry.parentId === parentId).reverse();

export const writtenCount = (noteId) => written.filter((entry) => entry.noteId === noteId).length;
