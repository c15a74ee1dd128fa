// Measures the texts with which the visual agent's tools describe a page to a model, and those of browser-use for the same pages.
//
//   node observations.mjs
//
// Tokens are counted with two tokenizers of different families. browser-use takes part when BROWSER_USE_PYTHON names
// a Python that has it. Prints a table and writes it to docs/observation-size.md.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { countTokens } from '@anthropic-ai/tokenizer';
import { getEncoding } from 'js-tiktoken';

import { McpClient } from './mcp.mjs';
import { PAGES } from './observed-pages.mjs';
import { MARK, endAll } from './processes.mjs';
import { PROGRAM, home, version } from './tools/cdpilot.mjs';
import { versionOf } from './tools/modules.mjs';

const encoding = getEncoding('o200k_base');
const TOKENIZERS = { o200k_base: (text) => encoding.encode(text).length, Claude: (text) => countTokens(text) };
/** The most tokens of 95 % of the observations, by the number of controls of a page. */
const GOALS = { 50: 2_000, 2000: 4_000 };
const browser = process.env.CDPILOT_BROWSER ?? '/usr/bin/chromium';

const site = http.createServer((request, response) => {
  const page = PAGES.find(({ path: at }) => at === request.url);
  response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' }).end(page?.html());
});
await new Promise((ready) => site.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${site.address().port}`;

/** All observations of a page: each page of the picture, in each type of elements. */
async function observed(client, url) {
  const call = async (name, args) => {
    const reply = await client.call(name, args);
    if (reply.error) throw new Error(`${name}: ${reply.text}`);
    const { observation, pages } = JSON.parse(reply.text);
    return { observation, pages };
  };
  const texts = { any: [], others: [] };
  const first = await call('tab', { action: 'init', url });
  texts.others.push(first.observation);
  for (const type of ['any', 'clickable', 'inputable', 'selectable', 'scrollable', 'hoverable']) {
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const seen = await call('highlight', { element_type: type, page });
      ({ pages } = seen);
      texts[type === 'any' ? 'any' : 'others'].push(seen.observation);
    }
  }
  return texts;
}

async function ours() {
  const mark = `${process.pid}-observations-`;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'observations-'));
  const environment = home({ environment: { ...process.env, [MARK]: mark }, folder, browser });
  try {
    const client = new McpClient(PROGRAM, ['mcp', '--toolsets', 'visual'], { env: { ...environment, CDPILOT_HEADLESS: '1' }, cwd: folder });
    await client.initialize();
    const found = new Map();
    for (const page of PAGES) found.set(page.path, await observed(client, `${base}${page.path}`));
    return found;
  } finally {
    await endAll(mark, folder);
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What browser-use shows a model of the pages with 40 controls; undefined if it is not installed. */
async function theirs() {
  const python = process.env.BROWSER_USE_PYTHON;
  if (python === undefined) return undefined;
  const script = fileURLToPath(new URL('tools/browser_use_state.py', import.meta.url));
  const urls = PAGES.filter(({ controls }) => controls === 40).map((page) => `${base}${page.path}`);
  const { stdout } = await promisify(execFile)(python, [script, browser, ...urls], { maxBuffer: 1 << 26, timeout: 300_000 });
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

const mine = await ours();
const peer = await theirs();
site.close();

const part95 = (values) => [...values].sort((one, other) => one - other)[Math.ceil(values.length * 0.95) - 1];
const sum = (values) => values.reduce((all, value) => all + value, 0);
const number = (value) => Math.round(value).toLocaleString('en');
const rows = [];
let failed = false;
for (const [controls, goal] of Object.entries(GOALS)) {
  const texts = PAGES.filter((page) => page.controls === Number(controls)).flatMap(({ path: at }) => Object.values(mine.get(at)).flat());
  const cells = Object.values(TOKENIZERS).map((count) => part95(texts.map(count)));
  const bytes = texts.map((text) => Buffer.byteLength(text));
  failed ||= cells.some((tokens) => tokens > goal);
  rows.push(`| ${number(Number(controls))} | ${texts.length} | ${number(part95(bytes))} | ${cells.map(number).join(' | ')} | ${number(goal)} |`);
}
const compared = [];
for (const page of PAGES.filter(({ controls }) => controls === 40)) {
  const own = mine.get(page.path).any;
  const their = peer?.pages[`${base}${page.path}`];
  const cells = Object.values(TOKENIZERS).map((count) => {
    const tokens = sum(own.map(count));
    if (their === undefined) return `${number(tokens)} | - | -`;
    return `${number(tokens)} | ${number(count(their.text))} | ${(tokens / count(their.text)).toFixed(2)}`;
  });
  compared.push(`| ${page.name} | ${own.length} | ${their?.controls ?? '-'} | ${cells.join(' | ')} |`);
}
const names = Object.keys(TOKENIZERS);
const text = `# Size of observations

What the visual agent's tools tell a model about a page, in tokens. \`make bench-observations\` measures and writes this page. cdpilot ${version()};
tokenizers: \`o200k_base\` (js-tiktoken ${versionOf('js-tiktoken')}) and the one of Claude (@anthropic-ai/tokenizer ${versionOf('@anthropic-ai/tokenizer')}). Pictures are not counted.

Every page of the picture in every type of elements is an observation. 95 % of them have at most this size:

| controls | observations | bytes | ${names.join(' | ')} | goal |
|---|---|---|---|---|---|
${rows.join('\n')}

Pages with 40 controls, compared with browser-use ${peer?.version ?? ''} (the text of its state; both without a picture). Ours is the sum of all pages of the picture.
It is larger where elements have many attributes: a line holds the element's own HTML, from which a model copies keywords and reads destinations and
states; browser-use lists names and a few attributes.

| page | our pages | their elements | ${names.map((name) => `ours, ${name} | theirs | ratio`).join(' | ')} |
|---|---|---|---|---|---|---|---|---|
${compared.join('\n')}
`;
console.log(text);
if (peer === undefined) {
  console.error('browser-use was not measured (BROWSER_USE_PYTHON); docs/observation-size.md is left as it is');
} else {
  fs.writeFileSync(new URL('../../docs/observation-size.md', import.meta.url), text);
}
if (failed) {
  console.error('a goal is missed');
  process.exitCode = 1;
}
