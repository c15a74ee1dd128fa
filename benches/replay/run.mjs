// Repeats recorded tasks on pages that have changed, with cdpilot and playwright-core in one run, and writes docs/replay.md.
//
//   node run.mjs [--seed N] [--count N] [--only SITE] [--tool cdpilot|playwright-core] [--verbose]
//
// CDPILOT_BIN is the program (default target/release/cdpilot), CDPILOT_BROWSER the browser. With --count, --only or --tool nothing is
// written. It fails if cdpilot did something wrong.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { Model } from './model.mjs';
import { mutated, unchanged } from './mutate.mjs';
import { Ours } from './ours.mjs';
import { Peer } from './peer.mjs';
import { report } from './report.mjs';
import { Site } from './server.mjs';
import { SITES } from './sites.mjs';
import { speed } from './speed.mjs';

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string' },
    only: { type: 'string' },
    tool: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});
const COUNT = Number(flags.count ?? 400);
const isPartial = [flags.count, flags.only, flags.tool].some((flag) => flag !== undefined);
const browser = process.env.CDPILOT_BROWSER ?? '/usr/bin/chromium';
const sites = SITES.filter(({ name }) => flags.only === undefined || name === flags.only);
const each = Math.ceil(COUNT / SITES.length);
const began = Date.now();
const versionOf = (program) => /[\d.]+/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))[0];

/** What was done beside what was to be done. */
function judged(served, site, status) {
  const left = [...site.acts];
  const wrong = served.acts.filter((act) => {
    const at = left.indexOf(act);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return { wrong, isWhole: left.length === 0, status };
}

async function ofSite(site, folder) {
  const served = new Site(site);
  await served.start();
  const rows = [];
  try {
    const seeds = Array.from({ length: each }, (_, at) => Number(flags.seed) * 1000 + at);
    if (flags.tool !== 'playwright-core') await withOurs(site, served, folder, seeds, rows);
    if (flags.tool !== 'cdpilot') await withPeer(site, served, seeds, rows);
  } finally {
    served.close();
  }
  return { site: site.name, rows };
}

async function withOurs(site, served, folder, seeds, rows) {
  const model = new Model();
  await model.start();
  const ours = new Ours();
  try {
    await ours.start({ browser, folder, model });
    served.serve(unchanged(site));
    const { routine } = await ours.learn(site, served);
    if (routine.fast_steps.length !== site.work.length) throw new Error(`${site.name}: only steps ${routine.fast_steps} can be done without a model`);
    model.site = site;
    for (let round = 0; round < 2; round += 1) {
      served.serve(unchanged(site));
      const run = await ours.run({ model: 'none' });
      const { wrong, isWhole } = judged(served, site, run.status);
      if (run.status !== 'done' || wrong.length || !isWhole) throw new Error(`${site.name}, unchanged: ${JSON.stringify(run)}`);
    }
    for (const seed of seeds) {
      const state = mutated(site, seed);
      Object.assign(model, { truth: state.truth, step: undefined });
      served.serve(state);
      const run = await ours.run({});
      const { wrong, isWhole } = judged(served, site, run.status);
      const isHealed = run.status === 'done' && run.steps.some(({ how }) => how !== 'fast' && how !== null);
      let outcome = run.status !== 'done' ? 'stopped' : isHealed ? 'healed' : 'fast';
      if (run.status === 'done' && !isWhole) outcome = 'incomplete';
      if (wrong.length) outcome = 'wrong';
      const row = { seed, names: state.names, ours: outcome, wrong, why: run.steps.find(({ cause }) => cause)?.cause };
      if (outcome === 'healed' && run.proposed_version) Object.assign(row, await again(ours, site, served, state, run.proposed_version));
      rows.push(row);
      if (flags.verbose || ['wrong', 'incomplete'].includes(outcome)) console.log(site.name, JSON.stringify(row), JSON.stringify(run.steps.map((step) => [step.status, step.how])));
    }
  } finally {
    await ours.stop();
    model.close();
  }
}

/** Uses what a run has proposed, without a model, on the same page; then goes back to what was recorded. */
async function again(ours, site, served, state, version) {
  const routine = `/routines/${ours.routine}`;
  await ours.ask('POST', `${routine}/versions/${version}/approve`, {});
  served.serve(state);
  const run = await ours.run({ model: 'none' });
  const { wrong, isWhole } = judged(served, site, run.status);
  const proposed = wrong.length || (run.status === 'done' && !isWhole) ? 'wrong' : run.status;
  return { proposed };
}

async function withPeer(site, served, seeds, rows) {
  const peer = new Peer();
  try {
    await peer.start({ browser });
    served.serve(unchanged(site));
    const locators = await peer.learn(site, served);
    if (flags.verbose) console.log(site.name, locators);
    for (const [at, seed] of seeds.entries()) {
      const state = mutated(site, seed);
      served.serve(state);
      const { status, why } = await peer.run(served);
      const { wrong, isWhole } = judged(served, site, status);
      let outcome = status;
      if (status === 'done' && !isWhole) outcome = 'incomplete';
      if (wrong.length) outcome = 'wrong';
      rows[at] = { ...(rows[at] ?? { seed, names: state.names }), peer: outcome, peerWrong: wrong };
      if (flags.verbose) console.log(site.name, seed, state.names.join(', '), 'playwright-core:', outcome, wrong, why ?? '');
    }
  } finally {
    await peer.stop();
  }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cdpilot-replay-'));
try {
  console.log(`seed ${flags.seed}: ${each * sites.length} mutations`);
  const fast = await speed({ browser, folder: path.join(folder, 'speed') });
  const results = await Promise.all(sites.map((site) => ofSite(site, path.join(folder, site.name))));
  const seconds = (Date.now() - began) / 1000;
  const isRight = report({ results, fast, seed: flags.seed, seconds, browserVersion: versionOf(browser), writes: !isPartial });
  if (!isRight) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
