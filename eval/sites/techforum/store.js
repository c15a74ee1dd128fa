// Reactions and comments of the signed-in visitor, kept in localStorage.

const KEY = 'techforum-state';
const initial = { upvoted: [8, 10, 21], downvoted: [24], collected: [5, 11, 21], liked: [], added: [] };

function read() {
  const stored = localStorage.getItem(KEY);
  return stored ? JSON.parse(stored) : structuredClone(initial);
}

function write(state) {
  localStorage.setItem(KEY, JSON.stringify(state));
}

export const has = (list, id) => read()[list].includes(id);

export const count = (list) => read()[list].length;

/** Ids of a list in ascending order, as `5,11,21`. */
export const idsOf = (list) => read()[list].sort((a, b) => a - b).join(',');

/** Adds or removes an id; returns whether the list changed. */
export function set(list, id, included) {
  const state = read();
  if (state[list].includes(id) === included) return false;
  state[list] = included ? [...state[list], id] : state[list].filter((other) => other !== id);
  write(state);
  return true;
}

/** Comments of the visitor below a question (`parentId` null) or below a comment. */
export function addedTo(questionId, parentId) {
  return read().added.filter((c) => c.questionId === questionId && c.parentId === parentId);
}

export function addComment(questionId, parentId, text) {
  const state = read();
  const id = questionId * 100000 + state.added.length + 1;
  state.added.push({ id, questionId, parentId, author: 'You', text, likes: 0, replies: [] });
  write(state);
}

export function onChangeElsewhere(handler) {
  window.addEventListener('storage', (event) => {
    if (event.key === KEY) handler();
  });
}
