// Tests actions on pages of widget libraries with cdpilot and playwright-core in one run, and writes docs/widgets.md.
//
//   node run.mjs [--only NAME;…] [--task NAME] [--tool cdpilot|playwright-core] [--rounds N] [--shots FOLDER]
//
// CDPILOT_BIN is the program (default target/release/cdpilot), CDPILOT_BROWSER the browser. With --only, --task or --tool
// nothing is written. --shots saves a screenshot of every task that failed.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { BUILT, build, slug } from './build.mjs';
import { PAGES } from './pages/all.mjs';
import { report } from './report.mjs';
import { Site } from './site.mjs';
import * as ours from './tools/cdpilot.mjs';
import * as peer from './tools/playwright.mjs';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    task: { type: 'string' },
    tool: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    shots: { type: 'string' },
  },
});
const isPartial = [flags.only, flags.task, flags.tool].some((flag) => flag !== undefined);
const browser = process.env.CDPILOT_BROWSER ?? '/usr/bin/chromium';
const wanted = flags.only?.toLowerCase().split(';');
const pages = PAGES.filter(({ name }) => wanted === undefined || wanted.some((part) => name.toLowerCase().includes(part)));

const sleep = (ms) => new Promise((next) => setTimeout(next, ms));
const firstLine = (message) => message.split('\n')[0].trim();

/** Waits until an expression of the page is true. */
async function until(tool, condition, limit) {
  const end = Date.now() + limit;
  let failure;
  do {
    try {
      if (await tool.evaluate(`Boolean(${condition})`)) return true;
    } catch (thrown) {
      failure = thrown;
    }
    await sleep(50);
  } while (Date.now() < end);
  if (failure && flags.only) console.log(`      ${firstLine(failure.message)}`);
  return false;
}

/** Executes one task on a newly loaded page; returns its outcome and the time of every step. */
async function attempt(tool, page, task, site) {
  const samples = [];
  const failed = (outcome, step, message, code) => ({ outcome, samples, reason: `${step}: ${firstLine(message)}`, code });
  try {
    await tool.open(site.address(page));
  } catch (failure) {
    return failed('error', 'open', failure.message);
  }
  if (!(await until(tool, `window.ready && (${page.ready ?? true})`, 15_000))) {
    const errors = await tool.evaluate('window.errors.join("; ")').catch(() => '');
    return failed('page', 'load', `the page does not become ready: ${errors}`);
  }
  for (const [number, given] of task.steps.entries()) {
    const step = { ...given };
    const named = `${number + 1} ${step.kind}`;
    if (step.kind === 'waitFor') {
      if (!(await until(tool, step.condition, 4000))) return failed('judge', named, `not true: ${step.condition}`);
      continue;
    }
    try {
      if (step.at) step.point = await tool.evaluate(step.at);
      if (step.start) step.from = await tool.evaluate(step.start);
      const { ms, find } = await tool.run(step);
      samples.push({ kind: step.kind, ms, find });
    } catch (failure) {
      if (failure.ms !== undefined) samples.push({ kind: step.kind, ms: failure.ms, failed: true });
      return failed('error', named, failure.message, failure.code);
    }
  }
  if (await until(tool, task.judge, 2000)) return { outcome: 'passed', samples };
  return failed('judge', 'judge', `every answer was ok, but not true: ${task.judge}`);
}

// A page in which both tools are busy at once would distort the times of either.
const leave = (tool) => tool.open('about:blank').catch(() => {});

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'widgets-'));
fs.mkdirSync(BUILT, { recursive: true });
const site = new Site(pages);
await site.start();
const tools = [
  { name: ours.name, version: ours.programVersion(), driver: new ours.Cdpilot() },
  { name: peer.name, version: peer.version, driver: new peer.Playwright() },
].filter(({ name }) => flags.tool === undefined || flags.tool === name);

const rows = [];
let isComplete = true;
const browsers = {};
try {
  for (const { name, driver } of tools) {
    await driver.start({ browser, folder });
    browsers[name] = await driver.browserVersion();
  }
  for (const [number, page] of pages.entries()) {
    try {
      await build(page);
    } catch (failure) {
      console.log(`${page.name}: not built: ${firstLine(failure.message)}`);
      process.exitCode = 1;
      isComplete = false;
      continue;
    }
    const row = { page, tasks: [] };
    rows.push(row);
    for (const task of page.tasks) {
      if (flags.task !== undefined && !task.name.includes(flags.task)) continue;
      const result = { name: task.name, attempts: {} };
      row.tasks.push(result);
      for (let round = 0; round < Number(flags.rounds); round += 1) {
        const turn = (number + round) % 2 === 0 ? tools : tools.toReversed();
        for (const { name, driver } of turn) {
          const attempted = await attempt(driver, page, task, site);
          (result.attempts[name] ??= []).push(attempted);
          const { outcome, reason, samples } = attempted;
          const times = samples.map(({ kind, ms }) => `${kind} ${Math.round(ms)}`).join(', ');
          console.log(`${page.name} / ${task.name} / ${name}: ${outcome}${reason ? `: ${reason}` : ''} (${times})`);
          if (outcome !== 'passed' && flags.shots) {
            fs.mkdirSync(flags.shots, { recursive: true });
            const file = path.join(flags.shots, `${slug(page.name)}.${slug(task.name)}.${name}`);
            await driver.screenshot(`${file}.png`).catch(() => {});
            if (name === 'cdpilot') fs.writeFileSync(`${file}.txt`, (await driver.snapshot().catch(() => ({ snapshot: '' }))).snapshot);
          }
          await leave(driver);
        }
      }
    }
  }
} finally {
  for (const { driver } of tools) await driver.stop();
  site.close();
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

const { text, summary, isGoalMet } = report({ rows, tools, browsers, rounds: Number(flags.rounds) });
console.log(`\n${summary}`);
if (!isComplete) console.error('not every page was built; docs/widgets.md is left as it is');
if (!isPartial && isComplete) {
  fs.writeFileSync(new URL('../../docs/widgets.md', import.meta.url), text);
  if (!isGoalMet) process.exitCode = 1;
}
