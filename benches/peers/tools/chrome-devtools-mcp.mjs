// chrome-devtools-mcp over stdio, with usage statistics and network look-ups disabled.

import { McpClient } from '../mcp.mjs';
import { commandOf, versionOf } from './modules.mjs';

export const chromeDevtoolsMcp = {
  name: 'chrome-devtools-mcp',
  version: versionOf('chrome-devtools-mcp'),
  missing: { url: 'in tabs', cookies: 'no tool' },
  environment: { CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS: '1', CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: '1' },
  start: async (setting) => new ChromeDevtoolsMcp(setting).started(),
};

class ChromeDevtoolsMcp {
  #client;
  #pageId = 2; // the first tab stays blank, so that the second can be closed
  #button;

  constructor({ environment, folder, browser, attachTo }) {
    const args = ['--no-usage-statistics', '--no-performance-crux'];
    if (attachTo) args.push('--browserUrl', attachTo);
    else args.push('--headless', '--isolated', '--executablePath', browser);
    if (!attachTo && process.getuid() === 0) args.push('--chromeArg=--no-sandbox');
    const command = commandOf('chrome-devtools-mcp', 'chrome-devtools-mcp');
    this.#client = new McpClient(command, args, { env: environment, cwd: folder });
  }

  async started() {
    await this.#client.initialize();
    return this;
  }

  async open(url) {
    const reply = await this.#client.call('new_page', { url });
    const line = reply.text.split('\n').find((text) => text.includes(url) && /^\d+:/.test(text));
    if (line) this.#pageId = Number.parseInt(line, 10);
    return reply;
  }

  /** Clicking needs an id from a snapshot. */
  async prepare() {
    this.#button = this.#buttonIn(await this.#call('take_snapshot'));
  }

  /** The calls of the speed benchmark. Listing tabs is the cheapest call. */
  speed = {
    trivial: () => this.#demand(this.#client.call('list_pages')),
    snapshot: () => this.#demand(this.#call('take_snapshot')),
    click: (snapshot) => this.#demand(this.#call('click', { uid: /uid=(\S+) button "press me"/.exec(snapshot)?.[1] })),
  };

  operations = {
    evaluate: () => this.#call('evaluate_script', { function: '() => 1 + 1' }),
    loop: () => this.#call('evaluate_script', { function: '() => { while (true) {} }' }),
    snapshot: () => this.#call('take_snapshot'),
    screenshot: () => this.#call('take_screenshot'),
    click: async () => {
      if (this.#button === undefined) {
        const reply = await this.#call('take_snapshot');
        this.#button = this.#buttonIn(reply);
        if (this.#button === undefined) return { ...reply, error: true };
      }
      return this.#call('click', { uid: this.#button });
    },
    console: () => this.#call('list_console_messages'),
    tabs: () => this.#client.call('list_pages'),
    newTab: (url) => this.#client.call('new_page', { url }),
    dialog: () => this.#call('handle_dialog', { action: 'accept' }),
    close: () => this.#call('close_page'),
  };

  #buttonIn(reply) {
    return /uid=(\S+) button "Press me"/.exec(reply.text)?.[1];
  }

  async #demand(asked) {
    const reply = await asked;
    if (reply.error) throw new Error(reply.text);
    return reply.text;
  }

  #call(name, args = {}) {
    return this.#client.call(name, { pageId: this.#pageId, ...args });
  }
}
