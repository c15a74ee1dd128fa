// cdpilot with a browser of its own: records a person's work, makes it a routine, and runs it.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILT = path.resolve(ROOT, process.env.CARGO_TARGET_DIR ?? 'target');
const PROGRAM = path.resolve(process.env.CDPILOT_BIN ?? path.join(BUILT, 'release', 'cdpilot'));

const sleep = (ms) => new Promise((next) => setTimeout(next, ms));
const FLAGS = ['--headless=new', '--remote-debugging-port=0', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];

export async function until(what, look) {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(30)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`timed out: ${what}`);
}

/** The element of the work in the pages of playwright. */
export function located(page, at) {
  const top = at.frame ? page.frameLocator(`iframe[title="${at.frame}"]`) : page;
  const roles = { row: 'row', card: 'listitem', dialog: 'dialog', form: 'form' };
  let around = top;
  if (at.in) {
    const titled = top.getByRole(roles[at.in.role]);
    around = ['dialog', 'form'].includes(at.in.role) ? top.getByRole(roles[at.in.role], { name: at.in.name }) : titled.filter({ hasText: at.in.name });
  }
  return around.getByRole(at.role, { name: at.name, exact: true });
}

/** Does the work of a site with mouse and keyboard. `seen` gets each element before it is used. */
export async function work(page, site, seen = async () => {}) {
  for (const action of site.work.flat()) {
    const element = located(page, action.at);
    await element.waitFor();
    await seen(action, element);
    if (action.dialog) page.once('dialog', (dialog) => dialog.accept());
    if (action.kind === 'choose') {
      await element.focus();
      await page.keyboard.press('ArrowDown');
    } else {
      await element.click();
    }
    if (action.kind === 'fill') await page.keyboard.type(action.value);
  }
}

export class Ours {
  #browser;
  #child;
  #port;
  #token;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

  async start({ browser, folder, model }) {
    const home = path.join(folder, 'home');
    const data = path.join(folder, 'browser');
    fs.mkdirSync(home, { recursive: true, mode: 0o700 });
    const flags = process.getuid?.() === 0 ? [...FLAGS, '--no-sandbox'] : FLAGS;
    this.#browser = spawn(browser, [...flags, `--user-data-dir=${data}`, 'about:blank'], { stdio: 'ignore' });
    const active = path.join(data, 'DevToolsActivePort');
    const [port, end] = (await until('the browser', () => fs.existsSync(active) && fs.readFileSync(active, 'utf8'))).split('\n');
    this.cdp = `ws://127.0.0.1:${port}${end}`;
    const config = `browser: {cdp_url: "${this.cdp}"}\nserver: {port: 0}\nagent: {confirm: never}\n`;
    fs.writeFileSync(path.join(home, 'config.yaml'), config);
    const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('CDPILOT_'));
    const log = fs.openSync(path.join(folder, 'serve.log'), 'w');
    this.#child = spawn(PROGRAM, ['serve'], { env: { ...Object.fromEntries(inherited), CDPILOT_HOME: home }, stdio: ['ignore', log, log] });
    const running = path.join(home, 'run', 'server.json');
    await until('the server', () => fs.existsSync(running) && fs.existsSync(path.join(home, 'token')));
    this.#port = JSON.parse(fs.readFileSync(running, 'utf8')).port;
    this.#token = fs.readFileSync(path.join(home, 'token'), 'utf8').trim();
    const models = { models: { one: { model: 'm', base_url: model.url, vision: false } } };
    await this.ask('POST', '/api/config/llm', models);
    this.model = model;
  }

  async stop() {
    for (const child of [this.#child, this.#browser]) {
      if (!child || child.exitCode !== null) continue;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await Promise.race([ended, sleep(8000)]);
      child.kill('SIGKILL');
    }
  }

  /** Records the work of a site, and stores it as a routine. */
  async learn(site, served) {
    const { recording_id: id } = await this.ask('POST', '/recordings', { start_url: served.url, name: site.name });
    const events = async () => (await this.ask('GET', `/recordings/${id}/events?limit=5000`)).events;
    await until('the first page', async () => (await events()).some(({ event_type: type }) => type === 'page_view'));
    const person = await chromium.connectOverCDP(this.cdp);
    const page = person.contexts().flatMap((context) => context.pages()).find((one) => one.url() === served.url);
    await work(page, site);
    await until('the last action', () => served.acts.length === site.acts.length);
    await this.ask('POST', `/recordings/${id}/stop`, {});
    const all = await events();
    await person.close();
    this.model.eventCount = all.length;
    this.model.text = textOf(site, served.url);
    this.model.stepEvents = eventsOf(site, all);
    let ended = await this.follow(`/recordings/${id}/compile`, {});
    while (ended.result?.status === 'asking') ended = await this.follow(`/recordings/${id}/compile/answer`, { text: 'As recorded.' });
    if (ended.result?.status !== 'review') throw new Error(`${site.name} was not compiled: ${JSON.stringify(ended)}`);
    const saved = await this.ask('POST', `/recordings/${id}/compile/finalize`, { name: site.name });
    this.routine = saved.routine_id;
    return this.ask('GET', `/routines/${this.routine}`);
  }

  /** Runs the routine; its report. A run that waits for a person is stopped. */
  async run(fields) {
    const ended = await this.follow(`/routines/${this.routine}/run`, { login: 'own', guard: 'off', ...fields });
    const report = await this.ask('GET', `/routines/${this.routine}/runs/${ended.run}`);
    if (report.status === 'waiting' || report.status === 'running') {
      await this.ask('POST', `/agent/conversations/${ended.run}/stop`, {});
      report.status = 'waiting';
    }
    return report;
  }

  ask(method, target, body) {
    return this.#request(method, target, body).then(async (response) => {
      let text = '';
      for await (const part of response) text += part;
      const answer = JSON.parse(text);
      if (answer.ok === false) throw new Error(`${method} ${target}: ${answer.error} ${JSON.stringify(answer.details ?? {})}`);
      return answer;
    });
  }

  /** Follows a stream of events to its end, or to the question that it waits with. */
  async follow(target, body) {
    const response = await this.#request('POST', target, body);
    let text = '';
    let run;
    for await (const part of response) {
      text += part;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        const name = /^event: (.*)$/m.exec(event)?.[1];
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (name === 'connected') run = JSON.parse(data).conversation_id;
        if (name === 'complete' || name === 'error' || name === 'help_request') {
          response.destroy();
          return { run, name, ...JSON.parse(data) };
        }
      }
    }
    throw new Error(`${target} ended without an answer: ${text}`);
  }

  #request(method, target, body) {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const headers = { Authorization: `Bearer ${this.#token}` };
    if (sent !== undefined) Object.assign(headers, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(sent) });
    return new Promise((resolve, reject) => {
      const request = http.request({ host: '127.0.0.1', port: this.#port, path: target, method, headers, agent: this.#agent }, resolve);
      request.on('error', reject);
      request.end(sent);
    });
  }
}

function textOf(site, url) {
  const steps = site.text.map(([title, line], at) => `## Step ${at + 1}: ${title}\n${line}\n`);
  return `# Workflow: ${site.name}\n\n## Prerequisites\nStarting URL: ${url}\n\n${steps.join('\n')}`;
}

/** The recorded events of each step: those of the element of each action, in order. */
function eventsOf(site, events) {
  const kinds = { click: ['click'], check: ['click', 'change'], fill: ['input', 'change'], choose: ['change', 'input'] };
  let from = 0;
  const steps = site.work.map((actions) =>
    actions.flatMap((action) => {
      const at = events.findIndex(
        ({ event_type: type, element }, index) => index >= from && kinds[action.kind].includes(type) && element?.name === action.at.name,
      );
      if (at < 0) throw new Error(`${site.name}: no event of ${JSON.stringify(action.at)}: ${JSON.stringify(events)}`);
      from = at + 1;
      return [events[at].event_index];
    }),
  );
  return Object.fromEntries(steps.map((list, at) => [String(at + 1), list]));
}
