// The columns: the call to a tool, and the check of its reply.

import { ENDED } from './mcp.mjs';

const sleep = (ms) => new Promise((next) => setTimeout(next, ms));

const namesPage = (reply, { id }) => new RegExp(`id=${id}m?\\b`).test(reply.text);

/** `check`: whether a successful reply is correct; `changes`: the tool is restarted after this call. */
export const OPERATIONS = [
  { key: 'cause', title: 'triggering call', changes: true, check: () => true },
  { key: 'evaluate', title: 'evaluate `1+1`', quick: true, check: (reply) => /\b2\b/.test(reply.text) },
  { key: 'url', title: 'read URL', check: namesPage },
  { key: 'tabs', title: 'list tabs', quick: true, check: namesPage },
  { key: 'snapshot', title: 'snapshot', quick: true, check: (reply) => reply.text.includes('Press me') },
  { key: 'screenshot', title: 'screenshot', check: (reply) => reply.image },
  { key: 'console', title: 'console', check: (reply) => reply.text.includes('hello from the page') },
  { key: 'cookies', title: 'cookies', check: (reply) => reply.text.includes('peer') },
  { key: 'click', title: 'click', changes: true, check: pressed },
  { key: 'newTab', title: 'new tab', changes: true, check: () => true },
  { key: 'dialog', title: 'answer the dialog', quick: true, changes: true, check: answered },
  { key: 'close', title: 'close', quick: true, changes: true, check: () => true },
];

// Whether the page received the click; the reply of the tool does not count.
async function pressed(_, { sites, id, pressesBefore }) {
  for (let round = 0; round < 40; round += 1) {
    if (sites.times(id, 'pressed') + sites.times(`${id}m`, 'pressed') > pressesBefore) return true;
    await sleep(50);
  }
  return false;
}

function answered(_, { sites, id }) {
  return sites.until(id, 'answered', 2_000);
}

/** The text for a cell that does not apply; undefined if it applies. */
export function leftOut(tool, state, operation) {
  if (operation.key === 'cause' && !state.cause) return '–';
  if (operation.key === 'dialog' && !state.dialog) return '–';
  return tool.missing[operation.key];
}

/** One call to a tool, limited to `limit` milliseconds. */
export async function ask(operation, run, limit) {
  const { driver, sites, id } = run;
  run.pressesBefore = sites.times(id, 'pressed') + sites.times(`${id}m`, 'pressed');
  const begin = run.causedAt && operation.key === 'cause' ? run.causedAt : performance.now();
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limit - (performance.now() - begin), null);
  });
  const another = sites.address('nothing', sites.newId());
  const question = operation.key === 'cause' ? run.cause : driver.operations[operation.key](another);
  const failed = (failure) => ({ error: true, text: String(failure.message), image: false });
  const reply = await Promise.race([Promise.resolve(question).catch(failed), late]);
  clearTimeout(timer);
  if (reply === null) return { outcome: 'late', ms: limit, said: '' };
  const ms = Math.round((operation.key === 'cause' && run.causeEndedAt ? run.causeEndedAt : performance.now()) - begin);
  return { outcome: await judge(operation, reply, run), ms, said: reply.text.slice(0, 400) };
}

async function judge(operation, reply, run) {
  if (!reply.error && (await operation.check(reply, run))) return 'ok';
  return wordFor(operation, reply);
}

// Tried in this order: the topic of an error, or of a reply without the requested content.
const WORDS = [
  ['names dialog', /dialog|modal state/i],
  ['wrong', null],
  ['names stuck page', /page_wedged|stopped responding|not responding|unresponsive/i],
  ['timeout', /time[d]?[ -]?out|no response came back/i],
  ['names crash', /crash/i],
  ['reconnected', /reconnected/i],
  ['closed', /closed|disconnect|not connected|ECONNRE|reset by peer/i],
];

function wordFor({ key }, { error, text }) {
  if (text === ENDED) return 'ended';
  if (key === 'dialog' && /no (open |active |javascript )?dialog|can only be used/i.test(text)) return 'no dialog';
  const fits = ([, pattern]) => (pattern === null ? !error : pattern.test(text));
  return WORDS.find(fits)?.[0] ?? 'error';
}
