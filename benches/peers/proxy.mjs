// A browser with a debugging port, behind a TCP proxy that can cut connections or suspend them.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/** Starts a headless browser; resolves with its debugging port, which the system selects. */
export async function startBrowser(program, folder, environment) {
  const profile = path.join(folder, 'attached');
  const flags = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--no-first-run'];
  if (process.getuid() === 0) flags.push('--no-sandbox');
  spawn(program, [...flags, 'about:blank'], { env: environment, stdio: 'ignore', detached: true }).unref();
  const file = path.join(profile, 'DevToolsActivePort');
  for (let round = 0; round < 400; round += 1) {
    await new Promise((next) => setTimeout(next, 50));
    const port = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8').split('\n')[0]) : 0;
    if (port > 0) return port;
  }
  throw new Error('the browser did not say its port');
}

export class Proxy {
  #pairs = new Set();
  #silent = false;
  #server;

  async start(port) {
    this.#server = net.createServer((near) => this.#carry(near, port));
    await new Promise((ready) => this.#server.listen(0, '127.0.0.1', ready));
    this.port = this.#server.address().port;
  }

  #carry(near, port) {
    const far = net.connect(port, '127.0.0.1');
    const pair = [near, far];
    this.#pairs.add(pair);
    const end = () => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const [from, to] of [[near, far], [far, near]]) {
      from.on('data', (bytes) => this.#silent || to.write(bytes));
      from.on('error', end);
      from.on('close', () => this.#silent || end());
    }
  }

  /** Resets existing connections; new ones are accepted. */
  cut() {
    for (const [near, far] of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
    this.#pairs.clear();
  }

  /** Existing and new connections stay open but carry no data. */
  fallSilent() {
    this.#silent = true;
  }

  close() {
    this.#server.close();
    this.cut();
  }
}
