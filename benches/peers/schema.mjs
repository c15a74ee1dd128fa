// Measures the size of the tools of MCP servers in a model's context, and tests the tools of each.
//
//   node schema.mjs [--only "SET;…"]
//
// Every server is started over stdio and lists its tools. The coverage of a set is tested in a browser, not derived from
// names: a tab is listed, a button in a cross-site frame within a frame is clicked, a dialog is accepted. Prints a
// table and writes it to docs/schema-size.md.

import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { getEncoding } from 'js-tiktoken';

import { McpClient } from './mcp.mjs';
import { MARK, endAll } from './processes.mjs';
import { PROGRAM, home, version } from './tools/cdpilot.mjs';
import { commandOf, versionOf } from './tools/modules.mjs';

const LIMIT = 40_000;
const ENCODING = 'o200k_base';
const { values: flags } = parseArgs({ options: { only: { type: 'string' } } });
const browser = process.env.CDPILOT_BROWSER ?? '/usr/bin/chromium';
const isRoot = process.getuid() === 0;

const PAGES = {
  '/ask': `<title>ask</title><button onclick="fetch('/answered?' + confirm('Well?'))">press me</button>`,
  '/frames': ({ other }) => `<title>frames</title><p>top</p><iframe src="${other}/outer" width=400 height=300></iframe>`,
  '/outer': ({ other }) => `<p>outer</p><iframe src="${other}/inner" width=300 height=200></iframe>`,
  '/inner': `<button onclick="fetch('/pressed')">press me</button>`,
};
let told = [];
const site = http.createServer((request, response) => {
  const { host } = request.headers;
  const other = `http://${host.startsWith('127') ? host.replace('127.0.0.1', 'localhost') : host.replace('localhost', '127.0.0.1')}`;
  const page = PAGES[request.url];
  if (page === undefined) told.push(request.url);
  const body = typeof page === 'function' ? page({ other }) : page;
  response.writeHead(body ? 200 : 204, { 'Content-Type': 'text/html; charset=utf-8' }).end(body && `<!doctype html>${body}`);
});

/** The calls of each set for the tests. `ref` finds the button in the text of a snapshot. */
const cdpilot = (name, toolsets) => ({
  name,
  version: version(),
  command: PROGRAM,
  args: ['mcp', ...(toolsets ? ['--toolsets', toolsets] : [])],
  environment: (setting) => ({ ...home(setting), CDPILOT_HEADLESS: '1' }),
  open: (url) => ['browser_navigate', { url }],
  snapshot: () => ['browser_snapshot', {}],
  ref: /button \\"press me\\"[^[]*\[ref=(\w+)\]/,
  click: (ref) => ['browser_click', { ref }],
  tabs: () => ['browser_tabs', { action: 'list' }],
  dialog: () => ['browser_dialog', { action: 'accept' }],
});

const agentBrowser = (name, profiles) => ({
  name,
  version: versionOf('agent-browser'),
  command: commandOf('agent-browser', 'agent-browser'),
  args: ['mcp', ...(profiles ? ['--tools', profiles] : [])],
  environment: ({ environment }) => ({
    ...environment,
    AGENT_BROWSER_NO_VERSION_CHECK: '1',
    AGENT_BROWSER_EXECUTABLE_PATH: browser,
    ...(isRoot ? { AGENT_BROWSER_ARGS: '--no-sandbox' } : {}),
  }),
  open: (url) => ['agent_browser_open', { url }],
  snapshot: () => ['agent_browser_snapshot', {}],
  ref: /button \\?"press me\\?"[^[]*\[ref=(\w+)/,
  // The innermost frame in the snapshot, for content that a snapshot of the whole page omits.
  frame: /Iframe \[ref=(\w+)\](?![\s\S]*Iframe \[)/,
  inside: (ref) => ['agent_browser_frame_switch', { frame: `@${ref}` }],
  click: (ref) => ['agent_browser_click', { selector: `@${ref}` }],
  tabs: () => ['agent_browser_tab_list', {}],
  dialog: () => ['agent_browser_dialog_accept', {}],
});

let page = 1; // chrome-devtools-mcp requires a page id
const SETS = [
  cdpilot('cdpilot'),
  cdpilot('cdpilot, `browser`', 'browser'),
  agentBrowser('agent-browser'),
  agentBrowser('agent-browser, `core,tabs`', 'core,tabs'),
  {
    name: '@playwright/mcp',
    version: versionOf('@playwright/mcp'),
    command: commandOf('@playwright/mcp', 'playwright-mcp'),
    args: ['--headless', '--isolated', '--executable-path', browser, ...(isRoot ? ['--no-sandbox'] : [])],
    environment: ({ environment }) => environment,
    open: (url) => ['browser_navigate', { url }],
    snapshot: () => ['browser_snapshot', {}],
    ref: /button "press me"[^[]*\[ref=(\w+)\]/,
    click: (ref) => ['browser_click', { element: 'the button', target: ref }],
    tabs: () => ['browser_tabs', { action: 'list' }],
    dialog: () => ['browser_handle_dialog', { accept: true }],
  },
  {
    name: 'chrome-devtools-mcp',
    version: versionOf('chrome-devtools-mcp'),
    command: commandOf('chrome-devtools-mcp', 'chrome-devtools-mcp'),
    args: ['--headless', '--isolated', '--executablePath', browser, ...(isRoot ? ['--chromeArg=--no-sandbox'] : [])]
      .concat('--no-usage-statistics', '--no-performance-crux'),
    environment: ({ environment }) => ({ ...environment, CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: '1' }),
    open: (url) => ['new_page', { url }],
    opened: (text, url) => (page = Number(text.split('\n').find((line) => line.includes(url))?.match(/^\d+/)?.[0] ?? page)),
    snapshot: () => ['take_snapshot', { pageId: page }],
    ref: /uid=(\S+) button "press me"/,
    click: (uid) => ['click', { pageId: page, uid }],
    tabs: () => ['list_pages', {}],
    dialog: () => ['handle_dialog', { pageId: page, action: 'accept' }],
  },
].filter(({ name }) => flags.only === undefined || flags.only.split(';').includes(name));

const within = (promise, ms, what) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

const until = async (accept) => {
  for (let wait = 0; wait < 250 && !accept(); wait += 1) await new Promise((next) => setTimeout(next, 20));
  return accept();
};

/** The results of the tests with a set of tools; null for success, otherwise the problem. */
async function attempts(set, client, names, base) {
  const call = async ([name, args], what) => {
    if (!names.has(name)) throw new Error(`no tool for ${what}`);
    const reply = await within(client.call(name, args), LIMIT, what);
    if (reply.error) throw new Error(reply.text.split('\n')[0]);
    return reply.text;
  };
  const enter = async (address) => {
    const opened = await call(set.open(address), 'opening');
    set.opened?.(opened, address);
    for (let round = 0; round < 20; round += 1) {
      const shown = await call(set.snapshot(), 'a snapshot');
      const ref = set.ref.exec(shown)?.[1];
      if (ref !== undefined) return ref;
      const frame = set.frame?.exec(shown)?.[1];
      if (round >= 5 && frame !== undefined && names.has(set.inside(frame)[0])) {
        await call(set.inside(frame), 'going into the frame').catch(() => {});
      }
      await new Promise((next) => setTimeout(next, 200));
    }
    throw new Error('no snapshot shows the button');
  };
  const tries = {
    tabs: async () => {
      await enter(`${base}/ask`);
      if (!(await call(set.tabs(), 'tabs')).includes('/ask')) throw new Error('the tab is not listed');
    },
    frames: async () => {
      const ref = await enter(`${base}/frames`);
      await call(set.click(ref), 'a click');
      if (!(await until(() => told.includes('/pressed')))) throw new Error('the click did not arrive');
    },
    dialogs: async () => {
      if (!names.has(set.dialog()[0])) throw new Error('no tool for dialogs');
      const ref = await enter(`${base}/ask`);
      // Some tools answer only after the dialog is closed.
      const clicked = call(set.click(ref), 'a click').catch(() => {});
      await Promise.race([clicked, new Promise((next) => setTimeout(next, 5_000))]);
      await call(set.dialog(), 'the dialog');
      if (!(await until(() => told.includes('/answered?true')))) throw new Error('the dialog was not accepted');
    },
  };
  const found = {};
  for (const [what, attempt] of Object.entries(tries)) {
    told = [];
    found[what] = await attempt().then(() => null, (failure) => failure.message.slice(0, 120));
  }
  return found;
}

async function measure(set, base, number) {
  const mark = `${process.pid}-${number}-`;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'schema-'));
  const settings = /^(XDG_.*|CDPILOT_.*|AGENT_BROWSER_.*|PLAYWRIGHT_.*|CHROME_DEVTOOLS_.*)$/; // settings of the user who runs this
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.test(name)));
  const own = { [MARK]: mark, HOME: folder, TMPDIR: folder, XDG_RUNTIME_DIR: folder };
  try {
    const environment = set.environment({ environment: { ...inherited, ...own }, folder, browser });
    const client = new McpClient(set.command, set.args, { env: environment, cwd: folder });
    await within(client.initialize(), LIMIT, 'initialize');
    const before = (await within(client.list(), LIMIT, 'tools/list')).tools;
    page = 1;
    // Some tools are offered only while a browser runs: the longer list counts.
    const names = new Set(before.map(({ name }) => name));
    await within(client.call(...set.open(`${base}/ask`)), LIMIT, 'opening').catch(() => {});
    const after = (await within(client.list(), LIMIT, 'tools/list')).tools;
    after.forEach(({ name }) => names.add(name));
    const tools = after.length > before.length ? after : before;
    const text = JSON.stringify({ tools });
    return { bytes: Buffer.byteLength(text), count: tools.length, tokens: tokens(text), can: await attempts(set, client, names, base) };
  } finally {
    await endAll(mark, folder);
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const encoding = getEncoding(ENCODING);
const tokens = (text) => encoding.encode(text).length;

await new Promise((ready) => site.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${site.address().port}`;
const rows = [];
for (const [number, set] of SETS.entries()) {
  const row = await measure(set, base, number).catch((failure) => ({ failure: failure.message }));
  rows.push({ set, ...row });
  console.log(`${set.name} ${set.version}: ${JSON.stringify(row)}`);
}
site.close();

const number = (value) => value.toLocaleString('en');
const ours = rows[0]?.bytes;
const cell = (problem) => (problem === null ? 'yes' : 'no');
const line = ({ set, failure, bytes, count, tokens: counted, can }) => {
  if (failure !== undefined) return `| ${set.name} ${set.version} | failed: ${failure} | | | | | | |`;
  const times = bytes === ours ? '1' : (bytes / ours).toFixed(1);
  const size = [number(bytes), number(count), number(Math.round(bytes / 4)), number(counted), `${times}×`];
  return `| ${set.name} ${set.version} | ${[...size, cell(can.tabs), cell(can.frames), cell(can.dialogs)].join(' | ')} |`;
};
const reasons = rows.flatMap(({ set, can }) =>
  Object.entries(can ?? {}).filter(([, problem]) => problem !== null).map(([what, problem]) => `- ${set.name}, ${what}: ${problem}`),
);
const table = [
  '| set of tools | bytes | tools | bytes / 4 | tokens | | tabs | frames | dialogs |',
  '|---|---|---|---|---|---|---|---|---|',
  ...rows.map(line),
];
const covers = rows.filter(({ can }) => can && Object.values(can).every((problem) => problem === null));
const smallest = covers.sort((one, other) => one.bytes - other.bytes)[0];
const text = `# Size of the tools

The part of a model's context that the tools of an MCP server need: the answer to \`tools/list\` as compact JSON. \`make bench-schema\` measures
and writes this page.

Each server is started over stdio with its defaults, and only with flags for a headless browser (a name after a comma is a set of tools
that a flag selects). It receives \`initialize\` and \`tools/list\`, before and while a browser runs; the longer list counts. *bytes / 4* is the
usual rule of thumb for tokens; *tokens* are counted with the tokenizer \`${ENCODING}\` (js-tiktoken ${versionOf('js-tiktoken')}) over the same JSON. MCP hosts
wrap it differently.

The columns *tabs*, *frames* and *dialogs* are tests with the tools of the set, in a browser:

- *tabs*: the open tab is listed.
- *frames*: a button in a cross-site frame within a cross-site frame is in a snapshot, can be clicked with what the snapshot says, and the
  click arrives.
- *dialogs*: a \`confirm\` that a click opens is accepted, and the page gets \`true\`.

${table.join('\n')}
${reasons.length > 0 ? `\nFailed tests:\n\n${reasons.join('\n')}\n` : ''}
The smallest set that covers all three: **${smallest ? `${smallest.set.name}, ${number(smallest.bytes)} bytes` : 'none'}**.
`;
console.log(`\n${table.join('\n')}\n${reasons.join('\n')}`);
const failed = rows.filter(({ failure }) => failure !== undefined).map(({ set }) => set.name);
if (failed.length > 0) {
  console.error(`not measured: ${failed.join('; ')}; docs/schema-size.md is left as it is`);
  process.exitCode = 1;
} else if (flags.only === undefined) {
  fs.writeFileSync(new URL('../../docs/schema-size.md', import.meta.url), text);
  if (smallest?.set.name !== 'cdpilot') process.exitCode = 1;
}
