// Executes steps with playwright-core: its locators, with their own waiting.

import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

import { chromium } from 'playwright-core';

export const name = 'playwright-core';
export const version = createRequire(import.meta.url)('playwright-core/package.json').version;

const LIMIT = 8000;

export class Playwright {
  #browser;
  #page;
  #folder;

  async start({ browser, folder }) {
    this.#folder = path.join(folder, 'files');
    fs.mkdirSync(this.#folder, { recursive: true });
    this.#browser = await chromium.launch({
      executablePath: browser,
      headless: true,
      chromiumSandbox: process.getuid?.() !== 0,
      args: ['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(LIMIT);
    this.#page = await context.newPage();
  }

  async browserVersion() {
    return this.#browser.version();
  }

  async open(url) {
    await this.#page.goto(url);
  }

  evaluate(expression) {
    return this.#page.evaluate(expression);
  }

  screenshot(file) {
    return this.#page.screenshot({ path: file });
  }

  async stop() {
    await this.#browser?.close();
  }

  /** Executes one step; returns `{ms}`, or throws an error with `step.ms`. */
  async run(step) {
    const locator = step.target && this.#locate(step.target);
    const began = performance.now();
    try {
      await this.#act(step, locator);
    } catch (failure) {
      failure.ms = performance.now() - began;
      throw failure;
    }
    return { ms: performance.now() - began };
  }

  #locate(target, around) {
    const scope = around ?? (target.in ? this.#locate(target.in) : target.frame ? this.#page.frameLocator(target.frame) : this.#page);
    const found = () => {
      if (target.css) return scope.locator(target.css);
      if (target.role) return scope.getByRole(target.role, { name: target.name, exact: typeof target.name === 'string' });
      return scope.getByText(target.text, { exact: typeof target.text === 'string' });
    };
    return target.nth === undefined ? found() : found().nth(target.nth);
  }

  async #act(step, locator) {
    const { mouse, keyboard } = this.#page;
    switch (step.kind) {
      case 'click':
        if (step.double) return locator.dblclick();
        return locator.click({ button: step.button, modifiers: step.modifiers });
      case 'clickAt':
        return mouse.click(step.point.x, step.point.y);
      case 'hover':
        return locator.hover();
      case 'fill':
        return locator.fill(step.value);
      case 'type':
        return locator ? locator.pressSequentially(step.text) : keyboard.type(step.text);
      case 'press':
        return locator ? locator.press(step.key) : keyboard.press(step.key);
      case 'select':
        return locator.selectOption(step.value);
      case 'check':
        return locator.check();
      case 'uncheck':
        return locator.uncheck();
      case 'drag':
        if (step.to) return locator.dragTo(this.#locate(step.to), { steps: 10 });
        await locator.hover();
        await mouse.down();
        await mouse.move(step.point.x, step.point.y, { steps: 10 });
        await mouse.move(step.point.x, step.point.y); // its documentation asks for two moves over the target
        return mouse.up();
      case 'dragPoints':
        await mouse.move(step.from.x, step.from.y);
        await mouse.down();
        await mouse.move(step.point.x, step.point.y, { steps: 10 });
        return mouse.up();
      case 'upload': {
        const file = path.join(this.#folder, step.file.name);
        fs.writeFileSync(file, step.file.content);
        const [chooser] = await Promise.all([this.#page.waitForEvent('filechooser'), locator.click()]);
        return chooser.setFiles(file);
      }
      case 'scroll':
        if (locator) await locator.hover();
        return mouse.wheel(0, step.pixels);
      default:
        throw new Error(`unknown step ${step.kind}`);
    }
  }
}
