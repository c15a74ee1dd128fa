// Measures the labels of the visual agent's screenshots: the share of the visible elements that has a label on page 1, how many lines of
// text the labels hide, and how many pages a view has. On the sites of the evaluation, and on pages of widget libraries if
// benches/widgets is installed.
//
//   node labels.mjs [FOLDER]
//
// Nothing of the program is used for the measurement: a line of text is hidden where the labelled screenshot of page 1 differs from the
// one without labels (tab, action view). Stores the screenshots in FOLDER.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { PNG } from 'pngjs';

import { McpClient } from './mcp.mjs';
import { MARK, endAll } from './processes.mjs';
import { PROGRAM, home } from './tools/cdpilot.mjs';

const browser = process.env.CDPILOT_BROWSER ?? '/usr/bin/chromium';
const kept = process.argv[2];
/** Goals: share of labelled elements, hidden lines of text and pages per view. */
const GOALS = { share: 0.9, hidden: 0.3, pages: 1.4 };

const SITES = [
  'bluebook/', 'cloudstack/console.html', 'cloudstack/ecs-create.html', 'dataflow/', 'dialogs/clippings.html', 'dialogs/storage.html', 'finviz/',
  'flaky/', 'flaky/moves.html', 'gbr/', 'gbr/search.html', 'northstar/', 'payment/', 'payment/basket.html', 'techforum/', 'techforum/search.html?q=key',
];
const LIBRARY_PAGES = 20;

/** The visible lines of text of the page, as boxes of the viewport. */
const LINES = `(() => {
  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || !node.parentElement || !node.parentElement.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    range.selectNodeContents(node);
    for (const { left, top, width, height } of range.getClientRects()) {
      if (width < 3 || height < 5 || top < 0 || left < 0 || top + height > innerHeight || left + width > innerWidth) continue;
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      if (hit && (hit.contains(node.parentElement) || node.parentElement.contains(hit))) lines.push([left, top, width, height]);
    }
  }
  return lines;
})()`;

/** The address of a running server with the sites of the evaluation, and its process. */
function sites(environment) {
  const server = spawn(PROGRAM, ['eval', 'serve', '--port', '0'], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  return new Promise((resolve, reject) => {
    let text = '';
    server.on('error', reject);
    server.stdout.on('data', (part) => {
      text += part;
      const base = /https?:\/\/\S+/.exec(text)?.[0];
      if (base !== undefined) resolve({ base, server });
    });
  });
}

/** Pages of widget libraries: names and addresses; none if they are not installed. */
async function libraries() {
  const folder = new URL('../widgets/', import.meta.url);
  if (!fs.existsSync(new URL('node_modules/esbuild', folder))) return { pages: [], close() {} };
  const { build, slug } = await import(new URL('build.mjs', folder));
  const { Site } = await import(new URL('site.mjs', folder));
  const { PAGES } = await import(new URL('pages/all.mjs', folder));
  const step = Math.max(1, Math.floor(PAGES.length / LIBRARY_PAGES));
  const chosen = [];
  for (const page of PAGES.filter((_, at) => at % step === 0).slice(0, LIBRARY_PAGES)) {
    try {
      await build(page);
      chosen.push(page);
    } catch (error) {
      console.error(`${page.name} is left out: ${String(error.message).split('\n')[0]}`);
    }
  }
  const site = new Site(chosen);
  await site.start();
  return { pages: chosen.map((page) => ({ name: `library-${slug(page.name)}`, url: site.address(page) })), close: () => site.close() };
}

/** Whether a line of text is hidden: columns in a row, wider than the line of a box, in which much differs. */
function isHidden([left, top, width, height], clean, labelled) {
  let run = 0;
  for (let x = Math.round(left); x < Math.min(left + width, clean.width); x += 1) {
    let different = 0;
    for (let y = Math.round(top); y < Math.min(top + height, clean.height); y += 1) {
      const at = (y * clean.width + x) * 4;
      different += [0, 1, 2].some((part) => Math.abs(clean.data[at + part] - labelled.data[at + part]) > 40) ? 1 : 0;
    }
    run = different > 0.35 * height ? run + 1 : 0;
    if (run >= 5) return true;
  }
  return false;
}

async function measured(client, { name, url }) {
  const call = async (tool, args) => {
    const reply = await client.callWithImages(tool, args);
    if (reply.error) throw new Error(`${tool} on ${url}: ${reply.text}`);
    return { ...JSON.parse(reply.text), png: reply.images[0] };
  };
  await call('tab', { action: 'init', url });
  const before = performance.now();
  const seen = await call('highlight', {});
  const time = performance.now() - before;
  const view = await call('tab', { action: 'view' });
  const { result: lines } = await call('browser_evaluate', { script: LINES });
  const [clean, labelled] = [view.png, seen.png].map((bytes) => PNG.sync.read(bytes));
  const listed = seen.observation.split('\n').filter((line) => /^[a-z0-9]{6}\(/.test(line));
  // Versions before this benchmark listed only what has a label.
  const without = listed.filter((line) => line.includes(', no label')).length;
  const labels = listed.length < seen.total && without === 0 ? listed.length : seen.total - without;
  const hidden = lines.filter((line) => isHidden(line, clean, labelled)).length;
  if (kept !== undefined) fs.writeFileSync(path.join(kept, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.png`), seen.png);
  return { name, total: seen.total, labels, hidden, lines: lines.length, pages: seen.pages, time };
}

const mark = `${process.pid}-labels-`;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'labels-'));
if (kept !== undefined) fs.mkdirSync(kept, { recursive: true });
const environment = { ...home({ environment: { ...process.env, [MARK]: mark }, folder, browser }), CDPILOT_HEADLESS: '1' };
const config = 'server: {port: 0}\nbrowser: {cdp_port: 0, viewport: {width: 1280, height: 720}, tabs: {max: 99}}\n';
fs.writeFileSync(path.join(environment.CDPILOT_HOME, 'config.yaml'), config);
const rows = [];
try {
  const { base, server } = await sites(environment);
  const library = await libraries();
  const client = new McpClient(PROGRAM, ['mcp', '--toolsets', 'visual,browser'], { env: environment, cwd: folder });
  await client.initialize();
  const pages = [...SITES.map((at) => ({ name: at, url: `${base}/${at}` })), ...library.pages];
  for (const page of pages) {
    try {
      rows.push(await measured(client, page));
    } catch (error) {
      console.error(`${page.name} is left out: ${error.message}`);
    }
  }
  library.close();
  server.kill();
} finally {
  await endAll(mark, folder);
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

const sum = (values) => values.reduce((all, value) => all + value, 0);
const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
console.log('| page | elements | labelled on page 1 | hidden lines of text | of | pages | ms |\n|---|---|---|---|---|---|---|');
for (const row of rows) {
  console.log(`| ${row.name} | ${row.total} | ${row.labels} | ${row.hidden} | ${row.lines} | ${row.pages} | ${Math.round(row.time)} |`);
}
let failed = false;
for (const [title, part] of [
  ['sites', rows.filter(({ name }) => !name.startsWith('library-'))],
  ['libraries', rows.filter(({ name }) => name.startsWith('library-'))],
  ['all', rows],
]) {
  if (part.length === 0) continue;
  const of = (field) => sum(part.map((row) => row[field]));
  const [share, hidden, pages] = [of('labels') / of('total'), of('hidden') / part.length, of('pages') / part.length];
  console.log(
    `${title}: ${part.length} views, ${(100 * share).toFixed(1)} % labelled on page 1, ${hidden.toFixed(2)} lines hidden a page, ${pages.toFixed(2)} pages a view, median ${Math.round(median(part.map((row) => row.time)))} ms`,
  );
  failed ||= title === 'all' && (share < GOALS.share || hidden > GOALS.hidden || pages > GOALS.pages);
}
if (failed) {
  console.error('a goal is missed');
  process.exitCode = 1;
}
