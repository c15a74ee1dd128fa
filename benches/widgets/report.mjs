// Writes docs/widgets.md from the results of a run.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { HERE } from './build.mjs';

const sorted = (numbers) => [...numbers].sort((one, other) => one - other);
const quantile = (numbers, part) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))];
const median = (numbers) => quantile(numbers, 0.5);
const milliseconds = (ms) => (ms === undefined ? '–' : ms.toFixed(ms < 10 ? 1 : 0));
const cell = (content) => content.replace(/\s+/g, ' ').replace(/\|/g, '\\|');
const shortened = (content, length) => (content.length > length ? `${content.slice(0, length - 1)}…` : content);

const KINDS = {
  click: 'click',
  clickAt: 'click at a point',
  hover: 'hover',
  fill: 'fill',
  type: 'type',
  press: 'press',
  select: 'select',
  check: 'check, uncheck',
  drag: 'drag',
  upload: 'upload',
  scroll: 'scroll',
};
const kindOf = (kind) => ({ uncheck: 'check', dragPoints: 'drag' })[kind] ?? kind;

function versionOf(name) {
  const { version } = JSON.parse(fs.readFileSync(path.join(HERE, 'node_modules', name, 'package.json'), 'utf8'));
  return version;
}

const libraryOf = (page) => (page.library ? `${page.name} ${versionOf(page.library)}` : page.name);

/** The outcome of a task over all rounds: the worst one. */
function outcomeOf(attempts) {
  const ranked = ['page', 'judge', 'error', 'passed'];
  const worst = Math.min(...attempts.map(({ outcome }) => ranked.indexOf(outcome)));
  return attempts.find(({ outcome }) => outcome === ranked[worst]);
}

const WORDS = { judge: 'wrong success', error: 'error answer', page: 'page not ready' };

const samplesOf = (rows, name) =>
  rows.flatMap(({ tasks }) => tasks.flatMap(({ attempts }) => (attempts[name] ?? []).flatMap(({ samples }) => samples)));

const timesOf = (samples) => samples.filter(({ failed }) => !failed).map(({ ms }) => ms);

export function report({ rows, tools, browsers, rounds }) {
  const names = tools.map(({ name }) => name);
  const [ours, peer] = ['cdpilot', 'playwright-core'];
  const passed = Object.fromEntries(names.map((name) => [name, 0]));
  const wrong = Object.fromEntries(names.map((name) => [name, 0]));
  const onlyOurs = [];
  let tasks = 0;

  const pageLines = rows.map((row) => {
    const reasons = [];
    const counts = Object.fromEntries(names.map((name) => [name, 0]));
    for (const task of row.tasks) {
      tasks += 1;
      const outcomes = Object.fromEntries(names.map((name) => [name, outcomeOf(task.attempts[name])]));
      for (const name of names) {
        const { outcome, reason } = outcomes[name];
        const isPassed = outcome === 'passed';
        if (isPassed) counts[name] += 1;
        else reasons.push(`${name}, ${task.name}: ${WORDS[outcome]}, ${shortened(reason, 160)}`);
        if (outcome === 'judge') wrong[name] += 1;
      }
      if (outcomes[ours] && outcomes[ours].outcome !== 'passed' && outcomes[peer]?.outcome === 'passed') {
        onlyOurs.push(`${row.page.name}: ${task.name}`);
      }
    }
    for (const name of names) passed[name] += counts[name];
    const total = row.tasks.length;
    const shown = (name) => (counts[name] < total ? `**${counts[name]} of ${total}**` : `${counts[name]} of ${total}`);
    const times = (name) => milliseconds(median(timesOf(samplesOf([row], name))));
    const cells = [libraryOf(row.page), ...names.map(shown), ...names.map(times), cell(reasons.join('; '))];
    return `| ${cells.join(' | ')} |`;
  });

  const kinds = Object.entries(KINDS).map(([kind, title]) => {
    const times = Object.fromEntries(
      names.map((name) => [name, timesOf(samplesOf(rows, name).filter((sample) => kindOf(sample.kind) === kind))]),
    );
    const ratio = median(times[ours] ?? []) / median(times[peer] ?? []);
    return { kind, title, times, ratio };
  });
  const kindLines = kinds
    .filter(({ times }) => names.some((name) => times[name].length > 0))
    .map(({ title, times, ratio }) => {
      const figures = names.flatMap((name) => [times[name].length, milliseconds(median(times[name])), milliseconds(quantile(times[name], 0.95))]);
      return `| ${title} | ${figures.join(' | ')} | ${Number.isNaN(ratio) ? '–' : ratio.toFixed(2)} |`;
    });
  const finds = samplesOf(rows, ours).flatMap(({ find }) => find ?? []);
  // With the snapshot that finds the element, as playwright-core's times include its search.
  const clicks = samplesOf(rows, ours).filter(({ kind, failed }) => kind === 'click' && !failed);
  const clickAndFind = median(clicks.map(({ ms, find }) => ms + (find ?? []).reduce((sum, part) => sum + part, 0)));
  const clickRatio = kinds.find(({ kind }) => kind === 'click').ratio;

  const table = [
    `| page | ${names.map((name) => `${name}: tasks passed`).join(' | ')} | ${names.map((name) => `${name}: median ms`).join(' | ')} | failures |`,
    `|---|${'---|'.repeat(names.length * 2)}---|`,
    ...pageLines,
  ];
  const kindTable = [
    `| action | ${names.map((name) => `${name}: count | median ms | p95 ms`).join(' | ')} | ratio of medians |`,
    `|---|${'---|'.repeat(names.length * 3)}---|`,
    ...kindLines,
  ];
  const counted = (count, what) => `${count} ${what}${count === 1 ? '' : 'es'}`;
  const totals = names
    .map((name) => `${name} passes ${passed[name]} of ${tasks} tasks, ${counted(wrong[name], 'wrong success')}`)
    .join('; ');
  const libraries = new Set(rows.flatMap(({ page }) => page.library ?? [])).size;
  const ownPages = rows.filter(({ page }) => !page.library).length;
  const processor = os.cpus()[0].model;
  const versions = tools.map(({ name, version }) => `${name} ${version}`).join(', ');
  const goal = [
    `Tasks that only cdpilot fails: ${onlyOurs.length === 0 ? 'none' : `${onlyOurs.length} (${onlyOurs.join('; ')})`}.`,
    `Median click: ${Number.isNaN(clickRatio) ? 'not measured' : `${clickRatio.toFixed(2)} of playwright-core's`}${
      Number.isNaN(clickRatio) ? '' : ` (with the snapshot: ${milliseconds(clickAndFind)} ms)`
    }.`,
  ];

  const text = `# Widgets

Tests of actions on common widgets of web applications: ${libraries} libraries from npm and ${ownPages} pages without one,
each with cdpilot and playwright-core in the same run. \`make bench-widgets\` measures and writes this page.

${new Date().toISOString().slice(0, 10)}; ${versions}; Chromium ${[...new Set(Object.values(browsers))].join(' and ')}, headless, viewport 1280x800;
${os.cpus().length} processors (${processor}), ${os.type()}, load ${os.loadavg()[0].toFixed(1)} at the end; ${rounds === 1 ? 'one round' : `${rounds} rounds`}. All pages are served from loopback.

The steps of a task are written once and executed with both tools. cdpilot is used over HTTP: a step takes a snapshot, finds the element
in it by role and name or by text, and acts on its ref; an element without a ref fails with *no ref in snapshot*. playwright-core uses
locators for the same role and name or text, or a CSS selector if the element has neither. Both have 8 s per action.

A task passes if no answer is an error and, within 2 s, an expression about the state of the page (the library's API or a log of events)
is true. *wrong success*: every answer was ok, but the expression is false. *error answer*: an action failed. With several rounds, a task
passes only if it passes in all of them.

Times are from request to answer, for successful actions only. For playwright-core they include finding the element; for cdpilot they do
not include the preceding snapshot, which takes: median ${milliseconds(median(finds))} ms, p95 ${milliseconds(quantile(finds, 0.95))} ms. cdpilot answers after the page has
settled; playwright-core waits only for navigations.

**${totals}.** ${goal.join(' ')}

## Pages

${table.join('\n')}

## Actions

${kindTable.join('\n')}
`;
  const summary = [...kindTable, totals, ...goal].join('\n');
  return { text, summary, isGoalMet: onlyOurs.length === 0 && clickRatio <= 1.1 };
}
