// Mutations of a page, by a seed. What an element is called afterwards is known: `truth` says where the element of each action is now, or
// that it is gone. Whoever acts on anything else does something wrong.

import { button, parts } from './sites.mjs';

/** Numbers from a seed: mulberry32. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const shuffled = (list, next) => {
  const all = [...list];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    [all[at], all[other]] = [all[other], all[at]];
  }
  return all;
};
const one = (list, next) => list[Math.floor(next() * list.length)];

const ROLES = { button: 'button', field: 'textbox', check: 'checkbox', choice: 'combobox' };
const nameOf = (part) => part.name ?? part.label;

/** The part that an element of the work is, with what is around it. */
function find(page, at) {
  for (const found of parts(page)) {
    const { part, around } = found;
    if (ROLES[part.kind] !== at.role || nameOf(part) !== at.name) continue;
    if (at.in && around.at(-1)?.title !== at.in.name) continue;
    const frame = around.find(({ kind }) => kind === 'frame');
    if ((frame?.title ?? undefined) !== at.frame) continue;
    return found;
  }
  return undefined;
}

const OTHER = { Archive: 'File away', Show: 'Apply', 'Add to cart': 'Put in basket', Save: 'Store', Close: 'Resolve', Book: 'Reserve' };
const OTHER_LABELS = { Customer: 'Client', Status: 'State', 'Gift wrap': 'Wrap as a gift', Reason: 'Why', Day: 'Weekday', Language: 'Locale' };

const finder = (state) => (action) => find(state.page, action.at);

// Each returns false if it does not apply. `target`: the action that it is about.
const MUTATIONS = {
  'rows reordered': (state) => {
    const found = finder(state)(state.target);
    const list = found?.around.findLast(({ kind }) => kind === 'table' || kind === 'list');
    if (!list) return false;
    list.parts = shuffled(list.parts, state.next);
    return true;
  },
  'rows added': (state) => {
    const found = finder(state)(state.target);
    const list = found?.around.findLast(({ kind }) => kind === 'table' || kind === 'list');
    if (!list) return false;
    const copy = structuredClone(list.parts[0]);
    copy.title = `${copy.title} (old)`;
    for (const part of copy.parts) part.act = part.act && `${part.act} (old)`;
    list.parts.unshift(copy);
    return true;
  },
  'row gone': (state) => {
    const found = finder(state)(state.target);
    const row = found?.around.at(-1);
    const list = found?.around.at(-2);
    if (!list || !['row', 'card'].includes(row.kind)) return false;
    list.parts = list.parts.filter((part) => part !== row);
    state.gone(state.target);
    return true;
  },
  'label moved': (state) => {
    const found = finder(state)(state.target);
    if (!found || !['field', 'choice', 'check'].includes(found.part.kind)) return false;
    found.part.labelAfter = true;
    return true;
  },
  'label renamed': (state) => {
    const found = finder(state)(state.target);
    const name = found && OTHER_LABELS[nameOf(found.part)];
    if (!name || found.part.kind === 'button') return false;
    found.part.label = name;
    state.now(state.target, { ...state.target.at, name });
    return true;
  },
  'button renamed': (state) => {
    const found = finder(state)(state.target);
    const name = found && OTHER[found.part.name];
    if (!name || found.part.kind !== 'button') return false;
    for (const { part } of parts(state.page)) if (part.name === found.part.name && part !== found.part && found.around.at(-1)?.kind !== 'form') part.name = name;
    found.part.name = name;
    state.now(state.target, { ...state.target.at, name });
    return true;
  },
  'another button in its place': (state) => {
    const found = finder(state)(state.target);
    if (!found || found.part.kind !== 'button') return false;
    Object.assign(found.part, { name: 'Delete everything', act: 'delete everything', opens: undefined, confirm: undefined, sends: undefined });
    state.gone(state.target);
    return true;
  },
  'decoy in a section': (state) => decoy(state, 'form', 'Recently used'),
  'decoy in a dialog': (state) => decoy(state, 'dialog', 'Welcome back', { open: true, modeless: true }),
  'decoy in a card': (state) => decoy(state, 'card', 'Suggested for you'),
  'decoy in another frame': (state) => decoy(state, 'frame', 'Advertisement'),
  'decoy beside it': (state) => {
    const found = finder(state)(state.target);
    if (!found || found.part.kind !== 'button') return false;
    found.siblings.splice(found.siblings.indexOf(found.part), 0, button(found.part.name, 'decoy'));
    // Nobody can say which one it is.
    state.gone(state.target);
    return true;
  },
  'amount changed': (state) => {
    const found = finder(state)(state.target);
    if (!found) return false;
    if (/\d/.test(nameOf(found.part))) {
      found.part.name = found.part.name.replace(/\d+/, (amount) => String(Number(amount) + 16));
      found.part.act = 'order 58';
      state.gone(state.target);
      return true;
    }
    const row = found.around.at(-1);
    if (!row || !/\d/.test(row.title ?? '')) return false;
    row.title = row.title.replace(/\d+/, (number) => `${number}1`);
    for (const part of row.parts) part.act = `${part.act}1`;
    state.gone(state.target);
    return true;
  },
  'other amount in the row': (state) => {
    const row = finder(state)(state.target)?.around.at(-1);
    if (!row?.cells) return false;
    row.cells = row.cells.map((cell) => cell.replace(/\d+/, (amount) => String(Number(amount) * 3)));
    return true;
  },
  overlay: (state) => {
    state.page.push({ kind: 'overlay', title: 'We use cookies', parts: [button('Accept all', 'neutral', { shuts: true }), button('Only necessary ones', 'neutral', { shuts: true })] });
    return true;
  },
  'frame moved': (state) => {
    const at = state.page.findIndex(({ kind }) => kind === 'frame');
    if (at < 0) return false;
    const [frame] = state.page.splice(at, 1);
    state.page.unshift({ kind: 'frame', title: 'News', parts: [{ kind: 'text', text: 'Nothing new.' }] }, frame);
    return true;
  },
  'form out of its frame': (state) => {
    const frame = state.page.find(({ kind }) => kind === 'frame');
    if (!frame) return false;
    frame.kind = 'form';
    for (const action of state.work.flat()) {
      const { frame: outer, ...at } = action.at;
      if (outer) state.now(action, { ...at, in: { role: 'form', name: frame.title } });
    }
    return true;
  },
  'frame of another site': (state) => {
    const frame = state.page.find(({ kind }) => kind === 'frame');
    if (!frame) return false;
    frame.path = '/elsewhere';
    for (const { part } of parts([frame])) if (part.act) part.act = `elsewhere ${part.act}`;
    for (const action of state.work.flat()) if (action.at.frame) state.gone(action);
    return true;
  },
  'more elements around': (state) => {
    for (const { part } of parts(state.page)) if (part.parts) part.wraps = 1 + Math.floor(state.next() * 3);
    return true;
  },
  'ids and classes at random': (state) => {
    state.isScrambled = true;
    return true;
  },
  'a slower page': (state) => {
    state.delay = 300 + Math.floor(state.next() * 1500);
    return true;
  },
};

function decoy(state, kind, title, more = {}) {
  const found = finder(state)(state.target);
  if (!found || found.part.kind !== 'button' || (kind === 'form' && found.around.at(-1)?.kind === 'frame')) return false;
  const copy = { kind, title, parts: [button(found.part.name, 'decoy')], ...more };
  if (state.next() < 0.5) state.page.unshift(copy);
  else state.page.push(copy);
  return true;
}

export const NAMES = Object.keys(MUTATIONS);

/** What the site serves for a seed: its page, how it behaves, what became of each action's element, and the names of the mutations. */
export function mutated(site, seed) {
  const next = random(seed);
  const work = site.work;
  const truth = new Map(work.flat().map((action) => [action, action.at]));
  const state = {
    page: site.page(),
    work,
    next,
    delay: 0,
    isScrambled: false,
    now: (action, at) => truth.get(action) && truth.set(action, at),
    gone: (action) => truth.set(action, undefined),
  };
  const names = [];
  // Every kind gets its turn, and most seeds add a second one.
  const wanted = next() < 0.6 ? 2 : 1;
  const order = [NAMES[seed % NAMES.length], ...shuffled(NAMES, next)];
  for (const name of order) {
    if (names.length === wanted) break;
    if (names.includes(name)) continue;
    state.target = one(work.flat(), next);
    // A part that has changed its name is not found again.
    if (MUTATIONS[name](state)) names.push(name);
  }
  return { page: state.page, delay: state.delay, isScrambled: state.isScrambled, truth, names };
}

export const unchanged = (site) => ({
  page: site.page(),
  delay: 0,
  isScrambled: false,
  truth: new Map(site.work.flat().map((action) => [action, action.at])),
  names: [],
});
