// @playwright/mcp over stdio.

import path from 'node:path';

import { McpClient } from '../mcp.mjs';
import { commandOf, versionOf } from './modules.mjs';

export const playwrightMcp = {
  name: '@playwright/mcp',
  version: versionOf('@playwright/mcp'),
  missing: { url: 'in tabs' },
  environment: {},
  start: async (setting) => new PlaywrightMcp(setting).started(),
};

class PlaywrightMcp {
  #client;

  constructor({ environment, folder, browser, attachTo }) {
    const args = ['--caps', 'storage', '--output-dir', path.join(folder, 'out')];
    if (attachTo) args.push('--cdp-endpoint', attachTo);
    else args.push('--headless', '--isolated', '--executable-path', browser);
    if (!attachTo && process.getuid() === 0) args.push('--no-sandbox');
    const command = commandOf('@playwright/mcp', 'playwright-mcp');
    this.#client = new McpClient(command, args, { env: environment, cwd: folder });
  }

  async started() {
    await this.#client.initialize();
    return this;
  }

  open(url) {
    return this.#client.call('browser_navigate', { url });
  }

  async prepare() {}

  /** The calls of the speed benchmark. Listing tabs is the cheapest call. */
  speed = {
    trivial: () => this.#demand('browser_tabs', { action: 'list' }),
    snapshot: () => this.#demand('browser_snapshot'),
    click: (snapshot) =>
      this.#demand('browser_click', { target: /button "press me".*?\[ref=(\w+)\]/.exec(snapshot)?.[1] }),
  };

  operations = {
    evaluate: () => this.#client.call('browser_evaluate', { function: '() => 1 + 1' }),
    loop: () => this.#client.call('browser_evaluate', { function: '() => { while (true) {} }' }),
    snapshot: () => this.#client.call('browser_snapshot'),
    screenshot: () => this.#client.call('browser_take_screenshot', { scale: 'css' }),
    click: () => this.#client.call('browser_click', { target: '#press' }),
    console: () => this.#client.call('browser_console_messages', { level: 'info' }),
    cookies: () => this.#client.call('browser_cookie_list'),
    tabs: () => this.#client.call('browser_tabs', { action: 'list' }),
    newTab: (url) => this.#client.call('browser_tabs', { action: 'new', url }),
    dialog: () => this.#client.call('browser_handle_dialog', { accept: true }),
    close: () => this.#client.call('browser_close'),
  };

  async #demand(name, args) {
    const reply = await this.#client.call(name, args);
    if (reply.error) throw new Error(reply.text);
    return reply.text;
  }
}
