// Serves the pages, their bundles and files of the packages on loopback; nothing is loaded from the network.

import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { BUILT, HERE, slug } from './build.mjs';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ttf': 'font/ttf',
  '.woff2': 'font/woff2',
};

// `log` contains events that a page records for the checks, `errors` its errors.
const document = (page, name, hasStyle) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${page.name}</title>
${hasStyle ? `<link rel="stylesheet" href="/built/${name}.css">` : ''}
<style>body { margin: 24px; font: 16px sans-serif; } ${page.style ?? ''}</style>
<script>
  window.log = []; window.errors = [];
  addEventListener('error', (event) => errors.push(event.message ?? String(event.target?.src)));
  addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
</script>
${page.head ?? ''}</head><body>
${page.html}
<script type="module" src="/built/${name}.js"></script>
</body></html>`;

export class Site {
  #server;
  #pages;
  base;

  constructor(pages) {
    this.#pages = new Map(pages.map((page) => [slug(page.name), page]));
  }

  async start() {
    this.#server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise((ready) => this.#server.listen(0, '127.0.0.1', ready));
    this.base = `http://127.0.0.1:${this.#server.address().port}`;
  }

  address(page) {
    return `${this.base}/page/${slug(page.name)}`;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request, response) {
    const target = decodeURIComponent(new URL(request.url, this.base).pathname);
    const [, folder, ...rest] = target.split('/');
    if (folder === 'page' && this.#pages.has(rest[0])) {
      const style = fs.existsSync(path.join(BUILT, `${rest[0]}.css`));
      this.#send(response, '.html', document(this.#pages.get(rest[0]), rest[0], style));
    } else if (folder === 'echo') {
      request.resume().on('end', () => this.#send(response, '.json', '{"ok": true}'));
    } else if (folder === 'built' || folder === 'modules') {
      this.#file(response, path.join(folder === 'built' ? BUILT : path.join(HERE, 'node_modules'), ...rest));
    } else {
      response.writeHead(404).end();
    }
  }

  #file(response, file) {
    fs.readFile(file, (failure, content) => {
      if (failure) response.writeHead(404).end();
      else this.#send(response, path.extname(file), content);
    });
  }

  #send(response, ending, content) {
    response.writeHead(200, { 'Content-Type': TYPES[ending] ?? 'application/octet-stream', 'Cache-Control': 'max-age=600' });
    response.end(content);
  }
}
