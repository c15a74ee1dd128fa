// Writes docs/peers-never-block.md from the results.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';

import { OPERATIONS, leftOut } from './operations.mjs';
import { STATES } from './states.mjs';

const COMPLETE = new URL('../../docs/peers-never-block.md', import.meta.url);
const PARTIAL = new URL('partial.md', import.meta.url);

const WORDS = {
  ok: 'ok',
  'names dialog': 'refused, dialog',
  'no dialog': 'no dialog',
  'names crash': 'refused, crash',
  'names stuck page': 'refused, stuck page',
  reconnected: 'refused, reconnected',
  closed: 'refused, closed',
  ended: 'server ended',
  timeout: 'timeout',
  error: 'error',
  wrong: '**wrong**',
  'not reached': 'not reached',
};

const seconds = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

function cellText(tool, state, operation, cell) {
  const none = leftOut(tool, state, operation);
  if (none !== undefined) return none;
  if (cell === undefined) return 'not run';
  if (cell.outcome === 'late') return `> ${cell.limit / 1000} s`;
  if (cell.outcome === 'not reached') return WORDS[cell.outcome];
  return `${WORDS[cell.outcome]}, ${seconds(cell.ms)}`;
}

function tableOf(tool, cells, states, operations) {
  const row = (texts) => `| ${texts.join(' | ')} |`;
  const lines = [row(['', ...operations.map(({ title }) => title)]), row(['---', ...operations.map(() => '---')])];
  for (const state of states) {
    const texts = operations.map((operation) => cellText(tool, state, operation, cells[state.key]?.[operation.key]));
    lines.push(row([state.title, ...texts]));
  }
  return lines.join('\n');
}

/** Counts the outcomes of all states with a fault, per tool. */
function summary(tools, results) {
  const failed = ({ outcome }) => !['ok', 'wrong', 'late', 'not reached'].includes(outcome);
  const kinds = [
    ['ok', ({ outcome }) => outcome === 'ok'],
    ['an error within 3 s', (cell) => failed(cell) && cell.ms < 3000],
    ['an error after 3 s or more', (cell) => failed(cell) && cell.ms >= 3000],
    ['wrong', ({ outcome }) => outcome === 'wrong'],
    ['no reply within the limit', ({ outcome }) => outcome === 'late'],
    ['state not reached', ({ outcome }) => outcome === 'not reached'],
  ];
  const cellsOf = (tool) =>
    STATES.filter(({ key }) => key !== 'nothing').flatMap(({ key }) => Object.values(results[tool.name]?.[key] ?? {}));
  const lines = [`| cells | ${tools.map(({ name }) => name).join(' | ')} |`, `| --- |${' --- |'.repeat(tools.length)}`];
  for (const [title, belongs] of kinds) {
    lines.push(`| ${title} | ${tools.map((tool) => cellsOf(tool).filter(belongs).length).join(' | ')} |`);
  }
  lines.push(`| all | ${tools.map((tool) => cellsOf(tool).length).join(' | ')} |`);
  return lines.join('\n');
}

const allCells = (results) =>
  Object.values(results).flatMap((states) => Object.values(states)).flatMap((cells) => Object.values(cells));

/** The load average during the measurement, from the 10th to the 90th percentile of the cells. */
function loadOf(results) {
  const loads = allCells(results).map(({ load }) => load).sort((one, other) => one - other);
  const at = (share) => Math.round(loads[Math.floor((loads.length - 1) * share)] ?? 0);
  return `${at(0.1)} to ${at(0.9)}`;
}

const distinct = (numbers) => [...new Set(numbers)].sort((one, other) => one - other).join(' or ');


function sections(tools, results) {
  const parts = [];
  const looking = OPERATIONS.filter(({ changes }) => !changes);
  const doing = OPERATIONS.filter(({ changes }) => changes);
  for (const tool of tools.filter(({ name }) => results[name])) {
    const cells = results[tool.name];
    parts.push(`## ${tool.name} ${tool.version}`, '', 'Read calls:', '', tableOf(tool, cells, STATES, looking), '');
    parts.push('Calls that change something:', '', tableOf(tool, cells, STATES, doing), '');
  }
  return parts.join('\n');
}

function missesCells(tools, results) {
  const misses = (tool, state, operation) =>
    leftOut(tool, state, operation) === undefined && !results[tool.name]?.[state.key]?.[operation.key];
  return tools.some((tool) => STATES.some((state) => OPERATIONS.some((operation) => misses(tool, state, operation))));
}

/** Returns the path of the file that it wrote. */
export function writeReport({ tools, results, browser }) {
  const line = execFileSync(browser, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const version = line.replace(/ (built|snap).*/s, '').trim();
  const text = fs
    .readFileSync(new URL('report.md', import.meta.url), 'utf8')
    .replace('{tools}', tools.map(({ name, version: of }) => `${name} ${of}`).join(', '))
    .replace('{browser}', version)
    .replace('{node}', process.version.slice(1))
    .replace('{system}', `${os.type()}, ${os.cpus().length} cores`)
    .replace('{limit}', distinct(allCells(results).map(({ limit }) => limit / 1000)))
    .replace('{jobs}', distinct(allCells(results).map(({ jobs }) => jobs)))
    .replace('{load}', loadOf(results))
    .replace('{summary}', summary(tools, results))
    .replace('{sections}', () => sections(tools, results));
  const target = missesCells(tools, results) ? PARTIAL : COMPLETE;
  fs.writeFileSync(target, text);
  return fileURLToPath(target);
}
