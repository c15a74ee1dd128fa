// An MCP client over stdio: JSON-RPC 2.0, one message per line.

import { spawn } from 'node:child_process';

/** The error of a call whose server has ended. */
export const ENDED = 'the server has ended';

export class McpClient {
  #child;
  #waiting = new Map();
  #next = 1;
  #ended = false;

  constructor(program, args, options) {
    const how = { ...options, stdio: ['pipe', 'pipe', 'ignore'], detached: true };
    const isScript = /\.[cm]?js$/.test(program);
    this.#child = isScript ? spawn(process.execPath, [program, ...args], how) : spawn(program, args, how);
    this.#child.on('error', () => {}); // reported by close
    let rest = '';
    this.#child.stdout.setEncoding('utf8');
    this.#child.stdout.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      lines.filter((line) => line.trim() !== '').forEach((line) => this.#receive(line));
    });
    this.#child.stdin.on('error', () => {});
    this.#child.on('close', () => {
      this.#ended = true;
      for (const { reject } of this.#waiting.values()) reject(new Error(ENDED));
      this.#waiting.clear();
    });
  }

  async initialize() {
    const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'peers', version: '1' } };
    await this.#request('initialize', about);
    this.#send({ method: 'notifications/initialized' });
  }

  /** The server's answer to tools/list, all pages merged. */
  async list() {
    const tools = [];
    let cursor;
    do {
      const page = await this.#request('tools/list', cursor === undefined ? {} : { cursor });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined && cursor !== null);
    return { tools };
  }

  /** One tool call: whether the reply is marked as an error, its text, whether an image came with it. */
  async call(name, args = {}) {
    const result = await this.#request('tools/call', { name, arguments: args });
    const parts = result.content ?? [];
    const text = parts.filter((part) => part.type === 'text').map((part) => part.text).join('\n');
    return { error: result.isError === true, text, image: parts.some((part) => part.type === 'image') };
  }

  /** As `call`, with the bytes of the images. */
  async callWithImages(name, args = {}) {
    const result = await this.#request('tools/call', { name, arguments: args });
    const parts = result.content ?? [];
    const text = parts.filter((part) => part.type === 'text').map((part) => part.text).join('\n');
    const images = parts.filter((part) => part.type === 'image').map((part) => Buffer.from(part.data, 'base64'));
    return { error: result.isError === true, text, images };
  }

  #request(method, params) {
    if (this.#ended) return Promise.reject(new Error(ENDED));
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return; // a log line
    }
    if (message.method !== undefined) {
      if (message.id !== undefined) this.#send({ id: message.id, error: { code: -32601, message: 'not here' } });
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  }
}
