// Executes steps with cdpilot over HTTP: every element is found in a snapshot and acted on by its ref.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { findLine, parseSnapshot } from './snapshot.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BUILT = path.resolve(ROOT, process.env.CARGO_TARGET_DIR ?? 'target');
const PROGRAM = path.resolve(process.env.CDPILOT_BIN ?? path.join(BUILT, 'release', 'cdpilot'));

export const name = 'cdpilot';
export const programVersion = () =>
  execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }).trim().replace(/^cdpilot /, '');

const LIMIT = 8000;
// How long an element may take to appear: until then snapshots are repeated, as a model would do.
const APPEAR = 4000;
const sleep = (ms) => new Promise((next) => setTimeout(next, ms));

export class Refusal extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

export class Cdpilot {
  #child;
  #home;
  #port;
  #token;
  #tab;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  async start({ browser, folder }) {
    this.#home = path.join(folder, 'home');
    fs.mkdirSync(path.join(this.#home, 'uploads'), { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(this.#home, 'config.yaml'), 'browser: {headless: true, cdp_port: 0}\nserver: {port: 0}\n');
    const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('CDPILOT_'));
    const env = { ...Object.fromEntries(inherited), CDPILOT_HOME: this.#home, CDPILOT_BROWSER: browser };
    const log = fs.openSync(path.join(folder, 'serve.log'), 'w');
    this.#child = spawn(PROGRAM, ['serve'], { env, stdio: ['ignore', log, log] });
    const failed = new Promise((_, reject) => this.#child.once('error', reject));
    const running = path.join(this.#home, 'run', 'server.json');
    const begun = (async () => {
      for (let round = 0; !fs.existsSync(running) && round < 200; round += 1) await sleep(50);
    })();
    await Promise.race([failed, begun]);
    this.#port = JSON.parse(fs.readFileSync(running, 'utf8')).port;
    this.#token = fs.readFileSync(path.join(this.#home, 'token'), 'utf8').trim();
    this.#tab = (await this.#ask('POST', '/tabs/open', { url: 'about:blank' })).targetId;
  }

  async browserVersion() {
    const { result } = await this.#ask('POST', '/cdp', { method: 'Browser.getVersion', targetId: this.#tab });
    return result.product.replace(/^\w+\//, '');
  }

  async open(url) {
    await this.#ask('POST', '/navigate', { url, targetId: this.#tab, timeoutMs: 30_000 });
  }

  async evaluate(expression) {
    return (await this.#ask('POST', '/act', { kind: 'evaluate', fn: expression, targetId: this.#tab })).result;
  }

  async screenshot(file) {
    const { path: made } = await this.#ask('POST', '/screenshot', { targetId: this.#tab });
    fs.copyFileSync(made, file);
  }

  async stop() {
    if (!this.#child || this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await Promise.race([ended, sleep(8000)]);
    this.#child.kill('SIGKILL');
  }

  snapshot() {
    return this.#ask('GET', `/snapshot?maxChars=0&targetId=${this.#tab}`);
  }

  /** Executes one step; returns `{ms, find}`, where `find` is the time of the snapshot. */
  async run(step) {
    const times = [];
    const ref = step.target && (await this.#ref(step.target, times));
    const endRef = step.to && (await this.#ref(step.to, times));
    const began = performance.now();
    try {
      await this.#act(step, ref, endRef);
    } catch (failure) {
      failure.ms = performance.now() - began;
      throw failure;
    }
    return { ms: performance.now() - began, find: times };
  }

  async #ref(target, times) {
    const end = Date.now() + APPEAR;
    for (;;) {
      const began = performance.now();
      const { snapshot, refs } = await this.snapshot();
      const ms = performance.now() - began;
      const { ref, seen } = await this.#look(target, parseSnapshot(snapshot), refs);
      if (ref) {
        times.push(ms);
        return ref;
      }
      if (Date.now() > end) throw new Refusal(seen ? `no ref in snapshot: ${seen}` : 'not in snapshot');
      await sleep(100);
    }
  }

  async #look(target, lines, refs) {
    if (target.role || target.text) return findLine(lines, target);
    const query = `/snapshot?maxChars=0&targetId=${this.#tab}&selector=${encodeURIComponent(target.css)}`;
    const { snapshot } = await this.#ask('GET', query).catch(() => ({ snapshot: '' }));
    const [first] = parseSnapshot(snapshot);
    if (first === undefined) return {};
    return { ref: first.ref in refs ? first.ref : undefined, seen: `${first.role} "${first.name ?? first.value ?? ''}"` };
  }

  async #act(step, ref, endRef) {
    const act = (action) => this.#ask('POST', '/act', { targetId: this.#tab, timeoutMs: LIMIT, ...action });
    switch (step.kind) {
      case 'click':
        return act({ kind: 'click', ref, double: step.double, button: step.button, modifiers: step.modifiers });
      case 'clickAt':
        return act({ kind: 'clickCoords', ...step.point });
      case 'hover':
        return act({ kind: 'hover', ref });
      case 'fill':
        return act({ kind: 'fill', fields: [{ ref, value: step.value }] });
      case 'type':
        return act({ kind: 'type', ref, text: step.text, append: ref === undefined ? undefined : true });
      case 'press':
        return act({ kind: 'press', ref, key: step.key });
      case 'select':
        return act({ kind: 'select', ref, values: [step.value].flat() });
      case 'check':
      case 'uncheck':
        return act({ kind: step.kind, ref });
      case 'drag':
        return act({ kind: 'drag', startRef: ref, endRef, end: step.point });
      case 'dragPoints':
        return act({ kind: 'drag', start: step.from, end: step.point });
      case 'upload': {
        const file = path.join(this.#home, 'uploads', step.file.name);
        fs.writeFileSync(file, step.file.content);
        await this.#ask('POST', '/hooks/file-chooser', { targetId: this.#tab, paths: [file] });
        return act({ kind: 'click', ref });
      }
      case 'scroll':
        return act({ kind: 'scroll', ref, direction: step.pixels < 0 ? 'up' : 'down', pixels: Math.abs(step.pixels) });
      default:
        throw new Error(`unknown step ${step.kind}`);
    }
  }

  #ask(method, target, body) {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const headers = { Authorization: `Bearer ${this.#token}` };
    if (sent !== undefined) headers['Content-Type'] = 'application/json';
    if (sent !== undefined) headers['Content-Length'] = Buffer.byteLength(sent);
    const where = { host: '127.0.0.1', port: this.#port, path: target, method, headers, agent: this.#agent };
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const request = http.request(where, (response) => {
        isAnswered = true;
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => {
          const answer = JSON.parse(Buffer.concat(parts).toString());
          if (answer.ok) resolve(answer);
          else reject(new Refusal(answer.error, answer.code));
        });
      });
      // The server may close an idle connection just when the next request is sent on it.
      const isRefused = () => request.reusedSocket && !isAnswered;
      request.on('error', (failure) => (isRefused() ? resolve(this.#ask(method, target, body)) : reject(failure)));
      request.end(sent);
    });
  }
}
