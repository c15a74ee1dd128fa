// The rows: the faults of page, browser or connection, and how they are created.

import { constants, setPriority } from 'node:os';

import { browsersOf, renderersOf, signal } from './processes.mjs';

const sleep = (ms) => new Promise((next) => setTimeout(next, ms));

// The page itself creates the state, shortly after it was opened.
async function release({ sites, id }) {
  sites.release(id);
  if (!(await sites.until(id, 'entered', 15_000))) throw new Error('the page did not come to it');
  await sleep(500);
}

// A renderer in an endless loop gets low priority, so that the tool is not slowed down.
function stepBack({ mark, folder }) {
  for (const pid of renderersOf(mark, folder)) {
    try {
      setPriority(pid, constants.priority.PRIORITY_LOW);
    } catch {
      // already gone
    }
  }
}

async function releaseLoop(run) {
  await release(run);
  stepBack(run);
}

async function leave(run) {
  await run.driver.operations.click(); // Chromium shows no such dialog for a page without user interaction
  await sleep(200);
  await release(run);
}

async function ownLoop(run) {
  run.cause = run.driver.operations.loop();
  await sleep(1500);
  stepBack(run);
}

function crash({ mark, folder }) {
  const pids = renderersOf(mark, folder);
  if (pids.length === 0) throw new Error('no renderer found');
  for (const pid of pids) signal(pid, 'SIGKILL');
  return sleep(1000);
}

function stop({ mark, folder }) {
  const pids = browsersOf(mark, folder);
  if (pids.length === 0) throw new Error('no browser process found');
  for (const pid of pids) signal(pid, 'SIGSTOP');
  return sleep(300);
}

function cut({ proxy }) {
  proxy.cut();
  return sleep(300);
}

function silence({ proxy }) {
  proxy.fallSilent();
  return sleep(300);
}

/**
 * `page`: what is opened; `enter`: what then happens; `during`: it happens while the page is being opened;
 * `dialog`: there is something to answer; `cause`: the call that leads there is of interest itself;
 * `attach`: through a proxy to a browser that was started before; `fresh`: every call on a new start.
 */
export const STATES = [
  { key: 'nothing', title: 'no fault', page: 'nothing', enter: release },
  { key: 'alert', title: '`alert`', page: 'alert', enter: release, dialog: true },
  { key: 'confirm', title: '`confirm`', page: 'confirm', enter: release, dialog: true },
  { key: 'prompt', title: '`prompt`', page: 'prompt', enter: release, dialog: true },
  { key: 'beforeunload', title: '`beforeunload`', page: 'leave', enter: leave, dialog: true },
  {
    key: 'confirm-frame',
    title: '`confirm` in a cross-origin frame',
    page: 'confirm-frame',
    enter: release,
    dialog: true,
  },
  {
    key: 'confirm-load',
    title: '`confirm` during load',
    page: 'confirm-load',
    during: true,
    dialog: true,
    cause: true,
  },
  { key: 'loop', title: '`while (true)` in the page', page: 'loop', enter: releaseLoop },
  { key: 'loop-own', title: "`while (true)` in the tool's own evaluate", page: 'nothing', enter: ownLoop, cause: true },
  { key: 'loop-frame', title: '`while (true)` in a cross-origin frame', page: 'loop-frame', enter: releaseLoop },
  { key: 'crash', title: 'renderer killed', page: 'nothing', enter: crash, fresh: true },
  { key: 'stopped', title: 'browser process stopped', page: 'nothing', enter: stop },
  { key: 'cut', title: 'connection cut once', page: 'nothing', attach: true, fresh: true, enter: cut },
  { key: 'silent', title: 'connection silent', page: 'nothing', attach: true, enter: silence },
];
