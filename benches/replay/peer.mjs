// The same work with playwright-core: the locators that its recorder writes for the elements, found on the page as it was recorded.

import { chromium } from 'playwright-core';

import { work } from './ours.mjs';

const LIMIT = 5000;

export class Peer {
  #browser;
  #locators = [];

  async start({ browser }) {
    this.#browser = await chromium.launch({
      executablePath: browser,
      headless: true,
      chromiumSandbox: process.getuid?.() !== 0,
      args: ['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
  }

  stop() {
    return this.#browser?.close();
  }

  async #page(url) {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(LIMIT);
    const page = await context.newPage();
    await page.goto(url);
    return page;
  }

  async learn(site, served) {
    const page = await this.#page(served.url);
    this.#locators = [];
    await work(page, site, async (action, element) => {
      const code = String(await element.normalize());
      this.#locators.push([action, code]);
    });
    await page.context().close();
    return this.#locators.map(([, code]) => code);
  }

  /** Repeats the work; `{status, why}`. */
  async run(served) {
    const page = await this.#page(served.url);
    try {
      for (const [action, code] of this.#locators) {
        const element = Function('page', `return page.${code}`)(page);
        if (action.dialog) page.once('dialog', (dialog) => dialog.accept());
        if (action.kind === 'fill') await element.fill(action.value);
        else if (action.kind === 'choose') await element.selectOption(action.value);
        else if (action.kind === 'check') await element.check();
        else await element.click();
      }
      // The last request is on its way.
      await page.waitForLoadState('networkidle');
      return { status: 'done' };
    } catch (failure) {
      return { status: 'stopped', why: failure.message.split('\n')[0] };
    } finally {
      await page.context().close();
    }
  }
}
