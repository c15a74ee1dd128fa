// cdpilot, as a program with one process per command, and over HTTP.

import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BUILT = path.resolve(ROOT, process.env.CARGO_TARGET_DIR ?? 'target');
export const PROGRAM = process.env.CDPILOT_PROGRAM ?? path.join(BUILT, 'release', 'cdpilot');

export const version = () => {
  try {
    return execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }).trim().replace(/^cdpilot /, '');
  } catch {
    return 'not built';
  }
};

const tool = (name, Driver) => ({
  name,
  version: version(),
  missing: {},
  environment: { CDPILOT_HEADLESS: '1' },
  start: async (setting) => new Driver(setting).started(),
});

const REF = /button "press me" \[ref=(e\d+)/;

/** The home of a run, with free ports, so that it does not affect the user's own server. */
export function home({ environment, folder, browser }) {
  const root = path.join(folder, 'home');
  fs.mkdirSync(root, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(root, 'config.yaml'), 'server: {port: 0}\nbrowser: {cdp_port: 0}\n');
  return { ...environment, CDPILOT_HOME: root, CDPILOT_BROWSER: browser };
}

function run(env, folder, args) {
  return new Promise((resolve, reject) => {
    execFile(PROGRAM, ['browser', ...args], { env, cwd: folder, maxBuffer: 1 << 26 }, (failure, stdout, stderr) => {
      if (failure) reject(new Error(`${stdout}${stderr}`));
      else resolve(stdout);
    }).stdin.end();
  });
}

class CommandLine {
  #env;
  #folder;

  constructor(setting) {
    this.#env = home(setting);
    this.#folder = setting.folder;
  }

  async started() {
    return this;
  }

  async open(url) {
    return { error: false, text: await this.#run('open', url) };
  }

  speed = {
    trivial: () => this.#run('tabs'),
    snapshot: () => this.#run('snapshot'),
    click: (snapshot) => this.#run('click', REF.exec(snapshot)?.[1]),
  };

  #run(...args) {
    return run(this.#env, this.#folder, args);
  }
}

class Rest {
  #env;
  #folder;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  #port;
  #token;

  constructor(setting) {
    this.#env = home(setting);
    this.#folder = setting.folder;
  }

  async started() {
    return this;
  }

  /** A command starts the server; later requests go to it directly. */
  async open(url) {
    if (this.#port === undefined) {
      const text = await run(this.#env, this.#folder, ['open', url]);
      const root = this.#env.CDPILOT_HOME;
      this.#port = JSON.parse(fs.readFileSync(path.join(root, 'run', 'server.json'), 'utf8')).port;
      this.#token = fs.readFileSync(path.join(root, 'token'), 'utf8').trim();
      return { error: false, text };
    }
    return { error: false, text: await this.#ask('POST', '/tabs/open', { url }) };
  }

  speed = {
    trivial: () => this.#ask('GET', '/tabs'),
    snapshot: async () => JSON.parse(await this.#ask('GET', '/snapshot?fold=true')).snapshot,
    click: (snapshot) => this.#ask('POST', '/act', { kind: 'click', ref: REF.exec(snapshot)?.[1] }),
  };

  #ask(method, target, body) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { Authorization: `Bearer ${this.#token}` };
    if (text !== undefined) headers['Content-Type'] = 'application/json';
    if (text !== undefined) headers['Content-Length'] = Buffer.byteLength(text);
    const where = { host: '127.0.0.1', port: this.#port, path: target, method, headers, agent: this.#agent };
    return new Promise((resolve, reject) => {
      const request = http.request(where, (response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => {
          const told = Buffer.concat(parts).toString();
          if (response.statusCode === 200) resolve(told);
          else reject(new Error(told));
        });
      });
      request.on('error', reject);
      request.end(text);
    });
  }
}

export const cdpilotCommand = tool('cdpilot, command line', CommandLine);
export const cdpilotRest = tool('cdpilot, HTTP', Rest);
