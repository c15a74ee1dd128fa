// agent-browser as a program; each call is one short process that connects to its daemon.

import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { moduleFile, versionOf } from './modules.mjs';

const FOLDER = path.dirname(moduleFile('agent-browser', 'package.json'));

// The Node launcher only finds the program for this platform; later calls run the program directly.
function program() {
  execFileSync(process.execPath, [path.join(FOLDER, 'bin', 'agent-browser.js'), '--version']);
  const musl = fs.existsSync('/lib/ld-musl-x86_64.so.1') || fs.existsSync('/lib/ld-musl-aarch64.so.1') ? 'musl-' : '';
  return path.join(FOLDER, 'bin', `agent-browser-linux-${musl}${process.arch}`);
}

export const agentBrowser = {
  name: 'agent-browser',
  version: versionOf('agent-browser'),
  missing: {},
  environment: { AGENT_BROWSER_NO_VERSION_CHECK: '1' },
  start: async (setting) => new AgentBrowser(setting).started(),
};

class AgentBrowser {
  #program = program();
  #setting;

  constructor(setting) {
    this.#setting = setting;
  }

  async started() {
    if (this.#setting.attachTo) await this.#demand('connect', this.#setting.attachTo);
    return this;
  }

  open(url) {
    return this.#run('open', url);
  }

  async prepare() {}

  /** The calls of the speed benchmark: plain text, as a person or a model reads it. */
  speed = {
    trivial: () => this.#plain('get', 'url'),
    snapshot: () => this.#plain('snapshot', '-i'),
    click: (snapshot) => this.#plain('click', `@${/button "press me" \[ref=(e\d+)/.exec(snapshot)?.[1]}`),
  };

  operations = {
    evaluate: () => this.#run('eval', '1+1'),
    loop: () => this.#run('eval', 'while (true) {}'),
    url: () => this.#run('get', 'url'),
    snapshot: () => this.#run('snapshot', '-i'),
    screenshot: async () => {
      const file = path.join(this.#setting.folder, 'shot.png');
      const reply = await this.#run('screenshot', file);
      return { ...reply, image: fs.existsSync(file) && fs.statSync(file).size > 0 };
    },
    click: () => this.#run('click', '#press'),
    console: () => this.#run('console'),
    cookies: () => this.#run('cookies', 'get'),
    tabs: () => this.#run('tab', 'list'),
    newTab: (url) => this.#run('tab', 'new', url),
    dialog: () => this.#run('dialog', 'accept'),
    close: () => this.#run('close'),
  };

  async #demand(...args) {
    const reply = await this.#run(...args);
    if (reply.error) throw new Error(reply.text);
  }

  async #plain(...args) {
    const reply = await this.#spawn(args);
    if (reply.failure !== null) throw new Error(reply.text);
    return reply.text;
  }

  async #run(...args) {
    const { failure, stdout, text } = await this.#spawn([...args, '--json']);
    let succeeded = failure === null;
    try {
      succeeded = JSON.parse(stdout).success;
    } catch {
      // not JSON: the exit status decides
    }
    return { error: !succeeded, text, image: false };
  }

  #spawn(args) {
    const { environment, folder, browser } = this.#setting;
    const env = { ...environment, AGENT_BROWSER_EXECUTABLE_PATH: browser, AGENT_BROWSER_SESSION: 'peers' };
    if (process.getuid() === 0) env.AGENT_BROWSER_ARGS = '--no-sandbox';
    return new Promise((resolve) => {
      const how = { env, cwd: folder, maxBuffer: 1 << 26 };
      execFile(this.#program, args, how, (failure, stdout, stderr) => {
        resolve({ failure, stdout, text: `${stdout}${stderr}` });
      }).stdin.end();
    });
  }
}
