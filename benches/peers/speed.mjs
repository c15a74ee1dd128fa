// Measures response times of browser tools in one run, with alternating tools.
//
//   node speed.mjs [--rounds N] [--calls N] [--only "TOOL;…"]
//
// Prints a table and writes it to docs/speed.md: medians, and their ratio to cdpilot over HTTP (to its command
// line for agent-browser, which also starts one process per command).

import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { MARK, endAll } from './processes.mjs';
import { agentBrowser } from './tools/agent-browser.mjs';
import { cdpilotCommand, cdpilotRest } from './tools/cdpilot.mjs';
import { chromeDevtoolsMcp } from './tools/chrome-devtools-mcp.mjs';
import { playwrightMcp } from './tools/playwright-mcp.mjs';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    calls: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
});
const rounds = Number(flags.rounds);
const calls = Number(flags.calls);
const browser = process.env.CDPILOT_BROWSER ?? '/usr/bin/chromium';
const ALL = [cdpilotRest, cdpilotCommand, agentBrowser, playwrightMcp, chromeDevtoolsMcp];
const TOOLS = ALL.filter(({ name }) => flags.only === undefined || flags.only.split(';').includes(name));

const BUTTON = `<button onclick="clicked = 1 + (window.clicked || 0); fetch('/clicked')">press me</button>`;
const many = (count, make) => Array.from({ length: count }, (_, n) => make(n)).join('');
const row = (n) => `<tr><td><input type=checkbox aria-label="row ${n}"></td><td>Person ${n}</td>
  <td>person${n}@example.test</td><td><a href="#${n}">open ${n}</a></td><td><button>delete ${n}</button></td></tr>`;
const link = (n) => `<td><a href="#${n}">link ${Math.floor(n / 10)} ${n % 10}</a></td>`;
const PAGES = {
  '/form': `<title>form</title><h1>Sign in</h1><form><label>Mail <input type=email required></label>
    <label>Word <input type=password></label><label><input type=checkbox> Remember me</label>
    <select><option>one<option>two</select></form>${BUTTON}<a href="#">Help</a>`,
  '/animated': `<title>animated</title><style>@keyframes turn { to { transform: rotate(360deg) } }
    #wheel { width: 40px; height: 40px; background: teal; animation: turn 2s linear infinite }</style>
    <h1>Always moving</h1>${BUTTON}<div id=wheel></div><p id=count></p><div id=bar>moving</div><script>
    let frame = 0;
    (function step() {
      frame += 1;
      document.querySelector('#count').textContent = 'frame ' + frame;
      document.querySelector('#bar').style.marginLeft = frame % 300 + 'px';
      requestAnimationFrame(step);
    })()</script>`,
  '/polling': `<title>polling</title><h1>Always asking</h1>${BUTTON}<p id=count></p><script>
    let answers = 0;
    setInterval(async () => {
      await fetch('/poll');
      document.querySelector('#count').textContent = 'answer ' + ++answers;
    }, 100)</script>`,
  '/rows': `<title>rows</title>${BUTTON}<table><tr><th>x<th>name<th>mail<th>open<th>delete</tr>${many(300, row)}</table>`,
  '/links': `<title>links</title>${BUTTON}<table>${many(200, (n) => `<tr>${many(10, (m) => link(n * 10 + m))}</tr>`)}</table>`,
};

let clicks = 0;
const site = http.createServer((request, response) => {
  if (request.url === '/clicked') clicks += 1;
  const body = PAGES[request.url.split('?')[0]];
  response.writeHead(body ? 200 : 204, { 'Content-Type': 'text/html; charset=utf-8' }).end(body && `<!doctype html>${body}`);
});

const median = (numbers) => {
  if (numbers.length === 0) return NaN;
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
};

async function timed(doing) {
  const began = performance.now();
  const told = await doing();
  return { ms: performance.now() - began, told };
}

function environmentOf(tool, mark, folder) {
  const settings = /^(XDG_.*|CDPILOT_.*|AGENT_BROWSER_.*|PLAYWRIGHT_.*|CHROME_DEVTOOLS_.*)$/; // settings of the user who runs this
  const inherited = Object.entries(process.env).filter(([name]) => !settings.test(name));
  const own = { [MARK]: mark, HOME: folder, TMPDIR: folder, XDG_RUNTIME_DIR: folder };
  return { ...Object.fromEntries(inherited), ...tool.environment, ...own };
}

/** One round with one tool: its samples in milliseconds, and the characters of its snapshots. */
async function round(tool, base, number) {
  const mark = `${process.pid}-${number}-`;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'speed-'));
  const samples = {};
  const chars = {};
  const add = (name, ms) => (samples[name] ??= []).push(ms);
  try {
    const environment = environmentOf(tool, mark, folder);
    const begun = await timed(async () => {
      const driver = await tool.start({ environment, folder, browser });
      const opened = await driver.open(`${base}/form`);
      if (opened.error) throw new Error(opened.text);
      return driver;
    });
    add('cold open', begun.ms);
    const { open, speed } = { open: begun.told.open.bind(begun.told), speed: begun.told.speed };
    for (let n = 0; n < calls; n += 1) add('trivial', (await timed(speed.trivial)).ms);
    for (const [name, address] of [['small snapshot', '/form'], ['300 rows', '/rows'], ['2,000 links', '/links']]) {
      await open(`${base}${address}`);
      await speed.snapshot();
      for (let n = 0; n < Math.max(3, calls / 4); n += 1) {
        const { ms, told } = await timed(speed.snapshot);
        add(name, ms);
        chars[name] = told.length;
      }
    }
    for (const [name, address] of [['click by ref', '/form'], ['click, animated', '/animated'], ['click, polling', '/polling']]) {
      await open(`${base}${address}`);
      const shown = await speed.snapshot();
      const before = clicks;
      try {
        for (let n = 0; n < calls; n += 1) add(name, (await timed(() => speed.click(shown))).ms);
      } catch (failure) {
        samples[name] = []; // reported as failed; the other figures are kept
        console.log(`${tool.name}, ${name}: ${failure.message.split('\n')[0]}`);
        continue;
      }
      for (let wait = 0; clicks - before < calls && wait < 100; wait += 1) await new Promise((next) => setTimeout(next, 20));
      if (clicks - before < calls) throw new Error(`${name}: ${calls - (clicks - before)} clicks did not arrive`);
    }
  } finally {
    await endAll(mark, folder);
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  return { samples, chars };
}

const WHAT = ['cold open', 'trivial', 'small snapshot', '300 rows', '2,000 links', 'click by ref', 'click, animated', 'click, polling'];
const all = new Map(TOOLS.map((tool) => [tool, { samples: {}, chars: {} }]));

await new Promise((ready) => site.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${site.address().port}`;
let number = 0;
for (let n = 0; n < rounds; n += 1) {
  for (const tool of TOOLS) {
    number += 1;
    const { samples, chars } = await round(tool, base, number);
    const sum = all.get(tool);
    for (const [name, list] of Object.entries(samples)) (sum.samples[name] ??= []).push(...list);
    Object.assign(sum.chars, chars);
    console.log(`round ${n + 1}, ${tool.name}: ${WHAT.map((name) => `${name} ${median(samples[name]).toFixed(1)}`).join(', ')} ms`);
  }
}
site.close();

const reference = (tool) => all.get(tool === agentBrowser ? cdpilotCommand : cdpilotRest);
const cell = (tool, name) => {
  const ms = median(all.get(tool).samples[name]);
  if (Number.isNaN(ms)) return 'failed';
  const ours = reference(tool) && median(reference(tool).samples[name]);
  const chars = all.get(tool).chars[name];
  const ratio = ours && !tool.name.startsWith('cdpilot') ? `, **${(ms / ours).toFixed(1)}×**` : '';
  return `${ms.toFixed(1)}${chars ? ` (${chars.toLocaleString('en')} chars)` : ''}${ratio}`;
};
const lines = [
  `| tool | ${WHAT.join(' | ')} |`,
  `|---|${WHAT.map(() => '---').join('|')}|`,
  ...TOOLS.map((tool) => `| ${tool.name} ${tool.version} | ${WHAT.map((name) => cell(tool, name)).join(' | ')} |`),
];
const text = `# Speed

Response times of browser tools in milliseconds, medians of ${rounds} rounds with alternating tools, on one machine
(${os.cpus().length} processors, load ${os.loadavg()[0].toFixed(1)} at the end). \`make bench-peers\` measures and writes this page.

Each tool starts its own headless browser (\`${path.basename(browser)}\`) and uses its defaults. Columns:

- *cold open*: from no running process to an opened page.
- *trivial*: the cheapest call (list tabs or read the address).
- *small snapshot*, *300 rows*, *2,000 links*: the default snapshot for models, with its length. agent-browser's is its list of
  interactive elements (\`-i\`). cdpilot's over HTTP folds long runs of similar rows, as its tools for models do.
- *click by ref*: until the tool has answered; every click is verified to have arrived.
- *click, animated*: the same on a page with an animation and a text that changes in every frame.
- *click, polling*: the same on a page that sends a request every 100 ms and shows the answer.

Bold: ratio to cdpilot's time (to its command line for agent-browser, to HTTP for the MCP servers).

${lines.join('\n')}
`;
console.log(`\n${lines.join('\n')}`);
if (TOOLS.length === ALL.length) fs.writeFileSync(new URL('../../docs/speed.md', import.meta.url), text);
