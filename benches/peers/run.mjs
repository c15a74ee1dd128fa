// Measures other browser tools while a page, a browser or a connection does not answer.
//
//   node run.mjs [--only TOOL,…] [--state STATE,…] [--quick] [--limit SECONDS] [--jobs N] [--report]
//
// Results are stored in results.json and replaced cell by cell. If they are complete, the document is
// generated from them, otherwise partial.md. With `--report` nothing is measured.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { OPERATIONS, ask, leftOut } from './operations.mjs';
import { Sites } from './pages.mjs';
import { MARK, endAll } from './processes.mjs';
import { Proxy, startBrowser } from './proxy.mjs';
import { writeReport } from './report.mjs';
import { STATES } from './states.mjs';
import { agentBrowser } from './tools/agent-browser.mjs';
import { chromeDevtoolsMcp } from './tools/chrome-devtools-mcp.mjs';
import { playwrightMcp } from './tools/playwright-mcp.mjs';

const TOOLS = [agentBrowser, playwrightMcp, chromeDevtoolsMcp];
const QUICK_ENOUGH = 1000; // after a slower reply the tool is restarted for the next call
const OPENING = 40_000;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    state: { type: 'string' },
    quick: { type: 'boolean', default: false },
    limit: { type: 'string' },
    jobs: { type: 'string', default: '4' },
    report: { type: 'boolean', default: false },
  },
});
const limit = Number(flags.limit ?? (flags.quick ? 10 : 40)) * 1000;
const browser = process.env.CDPILOT_BROWSER ?? '/usr/bin/chromium';
const sites = new Sites();
const running = new Set();
let count = 0;
let stopping = false;
let interrupted = false;

const within = (promise, ms, what) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** A tool with an open page in the given state. */
async function enter(tool, state) {
  if (stopping) throw new Error('interrupted');
  count += 1;
  const mark = `${process.pid}-${count}-`;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'peer-'));
  const run = { mark, folder, sites, id: sites.newId(), proxy: null, cause: null };
  running.add(run);
  try {
    const environment = environmentOf(tool, run);
    let attachTo;
    if (state.attach) {
      run.proxy = new Proxy();
      await run.proxy.start(await startBrowser(browser, folder, environment));
      attachTo = `http://127.0.0.1:${run.proxy.port}`;
    }
    run.driver = await within(tool.start({ environment, folder, browser, attachTo }), OPENING, 'starting');
    await bringAbout(state, run);
    return run;
  } catch (failure) {
    await leave(run);
    throw failure;
  }
}

function environmentOf(tool, { mark, folder }) {
  const settings = /^(XDG_.*|AGENT_BROWSER_.*|PLAYWRIGHT_.*|CHROME_DEVTOOLS_.*)$/; // settings of the user who runs this
  const inherited = Object.entries(process.env).filter(([name]) => !settings.test(name));
  const own = { [MARK]: mark, HOME: folder, TMPDIR: folder, XDG_RUNTIME_DIR: folder };
  return { ...Object.fromEntries(inherited), ...tool.environment, ...own };
}

async function bringAbout(state, run) {
  const address = sites.address(state.page, run.id);
  const begin = performance.now();
  if (state.during) {
    run.cause = run.driver.open(address);
    run.causedAt = begin;
    if (!(await sites.until(run.id, 'entered', OPENING))) throw new Error('the page was not opened');
    await new Promise((next) => setTimeout(next, 500));
  } else {
    const opened = await within(run.driver.open(address), OPENING, 'opening the page');
    if (opened.error) throw new Error(opened.text);
    await within(run.driver.prepare(), OPENING, 'a first snapshot');
    run.causedAt = performance.now();
    await within(state.enter(run), OPENING, 'the state');
  }
  run.cause?.finally(() => (run.causeEndedAt = performance.now())).catch(() => {});
}

async function leave(run) {
  running.delete(run);
  const left = await endAll(run.mark, run.folder);
  if (left > 0) console.error(`${left} processes of ${run.mark} are left`);
  run.proxy?.close();
  fs.rmSync(run.folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Measures the cells of one unit sequentially, with as few restarts as the method allows. */
async function measure({ tool, state, operations }, record) {
  let run = null;
  for (const operation of operations) {
    if (stopping) break;
    let cell;
    try {
      run ??= await enter(tool, state).catch(() => enter(tool, state));
      cell = await ask(operation, run, limit);
    } catch (failure) {
      cell = { outcome: 'not reached', ms: 0, said: String(failure.message).slice(0, 400) };
    }
    if (!stopping) record(tool, state, operation, cell);
    const usable = ['ok', 'names dialog', 'error', 'closed'].includes(cell.outcome) && cell.ms < QUICK_ENOUGH;
    if (run && (!usable || operation.changes || state.fresh)) {
      await leave(run);
      run = null;
    }
  }
  if (run) await leave(run);
}

function units() {
  const chosen = (list, name, want) => list.filter((one) => want === undefined || want.split(',').includes(one[name]));
  const all = [];
  for (const state of chosen(STATES, 'key', flags.state)) {
    for (const tool of chosen(TOOLS, 'name', flags.only)) {
      const wanted = OPERATIONS.filter((one) => (!flags.quick || one.quick) && leftOut(tool, state, one) === undefined);
      const looking = wanted.filter((one) => !one.changes);
      all.push({ tool, state, operations: looking, rank: 0 });
      all.push(...wanted.filter((one) => one.changes).map((one) => ({ tool, state, operations: [one], rank: 1 })));
    }
  }
  return all.sort((one, other) => one.rank - other.rank);
}

const resultsFile = new URL('results.json', import.meta.url);
const results = fs.existsSync(resultsFile) ? JSON.parse(fs.readFileSync(resultsFile, 'utf8')) : {};

function save() {
  fs.writeFileSync(resultsFile, JSON.stringify(results, null, 1));
}

async function main() {
  await sites.start();
  const waiting = units();
  const total = waiting.reduce((sum, unit) => sum + unit.operations.length, 0);
  let done = 0;
  const record = (tool, state, operation, cell) => {
    done += 1;
    const row = ((results[tool.name] ??= {})[state.key] ??= {});
    row[operation.key] = { ...cell, limit, jobs: Number(flags.jobs), load: os.loadavg()[0] };
    console.log(`${done}/${total} ${tool.name}, ${state.key}, ${operation.key}: ${cell.outcome}, ${cell.ms} ms`);
    save();
  };
  const worker = async () => {
    while (!stopping && waiting.length > 0) await measure(waiting.shift(), record);
  };
  try {
    await Promise.all(Array.from({ length: Number(flags.jobs) }, worker));
  } finally {
    await stop();
    sites.close();
  }
}

/** Ends everything that was started and still runs. */
async function stop() {
  stopping = true;
  await Promise.all([...running].map(leave));
  await endAll(`${process.pid}-`);
}

for (const name of ['SIGINT', 'SIGTERM']) {
  process.once(name, async () => {
    interrupted = true;
    await stop();
    process.exit(1);
  });
}

if (!flags.report) await main();
if (!interrupted) console.log(`written: ${writeReport({ tools: TOOLS, results, browser })}`);
