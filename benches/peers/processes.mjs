// Finds and ends the processes of one run of a tool. Linux only: it reads /proc.

import fs from 'node:fs';

export const MARK = 'CDPILOT_PEERS';

const read = (pid, name) => {
  try {
    return fs.readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
};

const parentOf = (pid) => Number(read(pid, 'stat').replace(/^.*\) \S /s, '').split(' ')[0]);

const allPids = () => fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);

/** Processes whose mark has this prefix or whose command line contains the folder, and their descendants. */
export function processesOf(mark, folder) {
  const pids = allPids();
  const children = new Map();
  for (const pid of pids) {
    const parent = parentOf(pid);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = new Set();
  const add = (pid) => {
    if (pid === process.pid || found.has(pid)) return;
    found.add(pid);
    (children.get(pid) ?? []).forEach(add);
  };
  for (const pid of pids) {
    const marked = read(pid, 'environ').split('\0').some((line) => line.startsWith(`${MARK}=${mark}`));
    if (marked || (folder !== undefined && read(pid, 'cmdline').includes(folder))) add(pid);
  }
  return [...found].map((pid) => ({ pid, command: read(pid, 'cmdline') })).filter(({ command }) => command !== '');
}

export const renderersOf = (mark, folder) =>
  processesOf(mark, folder).filter(({ command }) => /--type=renderer(\W|$)/.test(command)).map(({ pid }) => pid);

/** The main process of the browser: it has a debugging switch and no process type. */
export const browsersOf = (mark, folder) =>
  processesOf(mark, folder)
    .filter(({ command }) => command.includes('--remote-debugging-') && command.includes('--user-data-dir'))
    .filter(({ command }) => !command.includes('--type=') && !/^[^\0]*node\0/.test(command))
    .map(({ pid }) => pid);

export function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // already gone
  }
}

/** Ends all processes of one run; returns how many remain after two seconds. */
export async function endAll(mark, folder) {
  for (let round = 0; round < 40; round += 1) {
    const left = processesOf(mark, folder);
    if (left.length === 0) return 0;
    for (const { pid } of left) signal(pid, 'SIGKILL');
    await new Promise((next) => setTimeout(next, 50));
  }
  return processesOf(mark, folder).length;
}
