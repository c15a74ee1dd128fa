// Writes docs/replay.md from the results of a run.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { NAMES } from './mutate.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PLAYWRIGHT = createRequire(import.meta.url)('playwright-core/package.json').version;

const OURS = ['fast', 'healed', 'stopped', 'incomplete', 'wrong'];
const PEER = ['done', 'stopped', 'incomplete', 'wrong'];

const count = (rows, tool, outcome) => rows.filter((row) => row[tool] === outcome).length;
const share = (part, whole) => `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;
const line = (...cells) => `| ${cells.join(' | ')} |`;
const counts = (name, rows) =>
  line(name, rows.length, ...OURS.map((outcome) => count(rows, 'ours', outcome)), ...PEER.map((outcome) => count(rows, 'peer', outcome)));

const HEAD = [
  line('', 'mutations', ...OURS.map((outcome) => `cdpilot: ${outcome}`), ...PEER.map((outcome) => `playwright-core: ${outcome}`)),
  `|---${'|---'.repeat(OURS.length + PEER.length + 1)}|`,
];

/** Whether cdpilot did nothing wrong. */
export function report({ results, fast, seed, seconds, browserVersion, writes }) {
  const rows = results.flatMap(({ rows: of }) => of);
  const of = (outcome) => count(rows, 'ours', outcome);
  const proposals = rows.filter(({ proposed }) => proposed !== undefined);
  const misled = proposals.filter(({ proposed }) => proposed === 'wrong');
  const isRight = of('wrong') === 0 && misled.length === 0;
  const sites = results.map(({ site, rows: own }) => counts(site, own));
  const kinds = NAMES.map((name) => counts(name, rows.filter(({ names }) => names.includes(name))));
  const text = `# Replay

Recorded tasks, repeated on pages that have changed: ${rows.length} mutations of ${results.length} sites, with cdpilot and playwright-core in the same run.
\`make bench-replay\` measures and writes this page.

${new Date().toISOString().slice(0, 10)}; seed ${seed}; playwright-core ${PLAYWRIGHT}; Chromium ${browserVersion}, headless; ${os.cpus().length} processors, Linux, load
${os.loadavg()[0].toFixed(1)} at the end; ${(seconds / 60).toFixed(1)} minutes.

A person's work with mouse and keyboard is recorded once on each site. cdpilot makes a routine of it and runs it: steps without a model where every recorded element
is found again, a scripted model for single steps where one is not. The model knows what has become of each element: it uses the right one or says that there is none, so
that the figures are about the program. playwright-core repeats the work with the locators that its recorder writes for the same elements. Both wait 5 s for an element.

Each mutation changes a page by one or two of the kinds below, chosen by the seed. The site notes each request that a button sends. *wrong*: a request that does
not belong to the task, or one of its requests twice. *incomplete*: success was reported, and a request is missing. *fast*: the whole run without a model. *healed*: a
model did at least one step. *stopped*: the run ended without success, and nothing wrong was done; where the element is gone, this is the right end.

**cdpilot: ${of('wrong')} wrong, ${share(of('fast'), rows.length)} fast, ${share(of('healed'), rows.length)} healed, ${share(of('stopped'), rows.length)} stopped. playwright-core: ${count(rows, 'peer', 'wrong')} wrong, ${share(count(rows, 'peer', 'done'), rows.length)} done, ${share(count(rows, 'peer', 'stopped'), rows.length)} stopped.**

An element that a model had to find is proposed as a version of the routine. Each of ${proposals.length} proposals was approved and run without a model on the same page:
${count(proposals, 'proposed', 'done')} did the task, ${proposals.length - count(proposals, 'proposed', 'done') - misled.length} stopped, ${misled.length} did something wrong.

## Sites

${[...HEAD, ...sites, counts('**all**', rows)].join('\n')}

## Kinds of mutations

A mutation of two kinds counts for both.

${[...HEAD, ...kinds].join('\n')}

## Times

Medians on the unchanged page, in the same run: a routine of ten steps, each a click, from the request to its end: ${fast.run.toFixed(0)} ms. A step of it, with a screenshot for the report
and its place in the database: ${fast.step.toFixed(0)} ms; the same click through \`POST /act\`: ${fast.act.toFixed(0)} ms; ${(fast.step / fast.act).toFixed(2)} of it. How long an element takes to be found is in
\`make bench-page\` (*anchor*).
`;
  if (writes) fs.writeFileSync(path.join(ROOT, 'docs', 'replay.md'), text);
  console.log(text);
  if (!isRight) console.log(`cdpilot was wrong: ${JSON.stringify(rows.filter((row) => row.ours === 'wrong' || row.proposed === 'wrong'))}`);
  return isRight;
}
