// Serves a site as a mutation has made it, and notes what its buttons do.

import { randomBytes } from 'node:crypto';
import http from 'node:http';

const escaped = (text) =>
  String(text).replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

const STYLE = `body { font: 16px sans-serif; margin: 24px } * { box-sizing: border-box }
  form, section, li { border: 1px solid #ccc; padding: 12px; margin: 8px 0 } label, button { margin: 4px 8px 4px 0; display: inline-block }
  ul { list-style: none; padding: 0 } td, th { padding: 6px; text-align: left } iframe { width: 700px; height: 200px }
  .overlay { position: fixed; inset: 0; background: #0009; padding: 30% 30px 0; color: white }`;

const SCRIPT = `
  document.addEventListener('submit', (event) => event.preventDefault());
  document.addEventListener('click', async (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    const { act, opens, asks, sends, goes, reveals, shuts } = button.dataset;
    if (asks && !confirm(asks)) return;
    if (opens) document.querySelector('dialog[aria-label="' + CSS.escape(opens) + '"]').showModal();
    const values = (sends ? JSON.parse(sends) : []).map((key) => {
      const field = document.querySelector('[data-key="' + CSS.escape(key) + '"]');
      return field.type === 'checkbox' ? String(field.checked) : field.value;
    });
    if (act) {
      await fetch('/act', { method: 'POST', body: [act, ...values].join(' ') });
      document.querySelector('[role=status]').textContent = 'Done: ' + button.textContent;
    }
    if (shuts) document.querySelector('.overlay').remove();
    else button.closest('dialog')?.close();
    if (reveals) document.getElementById(reveals + '-part').hidden = false;
    if (goes) location.href = goes;
  });`;

export class Site {
  #server;
  #state;
  // Whether the overlay was closed: it does not come back.
  #isShut = false;
  acts = [];

  constructor(site) {
    this.site = site;
  }

  async start() {
    this.#server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise((ready) => this.#server.listen(0, '127.0.0.1', ready));
    this.port = this.#server.address().port;
    this.url = `http://www.localhost:${this.port}/`;
  }

  /** Serves this from now on, and forgets what was done. */
  serve(state) {
    this.#state = state;
    this.acts = [];
    this.#isShut = false;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request, response) {
    const { pathname } = new URL(request.url, this.url);
    if (request.method === 'POST') {
      let body = '';
      request.on('data', (part) => (body += part));
      request.on('end', () => {
        if (body.startsWith('neutral')) this.#isShut = true;
        else this.acts.push(body);
        response.end();
      });
      return;
    }
    if (pathname === '/favicon.ico') return void response.writeHead(404).end();
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    const frame = this.#state.page.find((part) => part.kind === 'frame' && pathname === this.#pathOf(part));
    if (frame) return void response.end(this.#document(frame.title, frame.parts));
    const here = this.#state.page.filter((part) => (part.path && part.kind !== 'frame' ? part.path === pathname : pathname === '/' || part.kind !== 'form'));
    response.end(this.#document(this.site.name, here));
  }

  #pathOf(frame) {
    return frame.path ?? `/frame/${slug(frame.title)}`;
  }

  #document(title, parts) {
    const { delay } = this.#state;
    const body = parts.map((part) => this.#part(part)).join('\n');
    const late = `<p>Loading …</p><template>${body}</template><script>setTimeout(() => {
      document.querySelector('p').remove(); document.body.append(document.querySelector('template').content) }, ${delay})</script>`;
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style></head>
<body>${delay ? late : body}<p role="status"></p><script>${SCRIPT}</script></body></html>`;
  }

  #part(part) {
    const inner = () => part.parts.map((one) => this.#part(one)).join(' ');
    const wrap = (html) => `${'<div>'.repeat(part.wraps ?? 0)}${html}${'</div>'.repeat(part.wraps ?? 0)}`;
    const title = escaped(part.title);
    switch (part.kind) {
      case 'form':
        return wrap(`<form aria-label="${title}"><h2>${title}</h2>${inner()}</form>`);
      case 'table':
        return `<div${part.hidden ? ' hidden' : ''} id="${part.id}-part"><table><caption>${title}</caption>${inner()}</table></div>`;
      case 'list':
        return wrap(`<h2>${title}</h2><ul>${inner()}</ul>`);
      case 'row': {
        const cells = part.cells.map((cell) => `<td>${escaped(cell)}</td>`).join('');
        return `<tr${this.#names(part.title)}><th>${title}</th>${cells}<td>${inner()}</td></tr>`;
      }
      case 'card':
        return `<li${this.#names(part.title)}><h3>${title}</h3><p>${escaped(part.text ?? '')}</p>${wrap(inner())}</li>`;
      case 'dialog':
        return `<dialog aria-label="${title}"${part.open ? ' open' : ''}><h2>${title}</h2>${inner()}</dialog>`;
      case 'frame':
        return wrap(`<iframe title="${title}" src="http://frames.localhost:${this.port}${this.#pathOf(part)}"></iframe>`);
      case 'overlay':
        return this.#isShut ? '' : `<div class="overlay"><p>${title}</p>${inner()}</div>`;
      case 'text':
        return `<p>${escaped(part.text)}</p>`;
      case 'button': {
        const { name, act, opens, confirm, sends, goes, reveals, shuts, testId } = part;
        const data = { act, opens, asks: confirm, sends: sends && JSON.stringify(sends), goes, reveals, shuts };
        const given = Object.entries(data).filter(([, value]) => value !== undefined);
        const more = given.map(([key, value]) => ` data-${key}="${escaped(value)}"`).join('');
        const known = testId && !this.#state.isScrambled ? ` data-testid="${testId}"` : '';
        return `<button type="button"${this.#names(name)}${known}${more}>${escaped(name)}</button>`;
      }
      case 'field':
        return this.#labelled(part, (id) => `<input${id} data-key="${escaped(part.id)}" value="${escaped(part.value ?? '')}">`);
      case 'check':
        return this.#labelled(part, (id) => `<input type="checkbox"${id} data-key="${escaped(part.id)}">`);
      case 'choice': {
        const options = part.options.map((option) => `<option>${escaped(option)}</option>`).join('');
        return this.#labelled(part, (id) => `<select${id} data-key="${escaped(part.id)}">${options}</select>`);
      }
      default:
        throw new Error(`unknown part ${part.kind}`);
    }
  }

  #labelled(part, control) {
    if (!part.labelAfter) return `<label>${escaped(part.label)} ${control(this.#names(part.id, false))}</label>`;
    const id = `field-${randomBytes(4).toString('hex')}`;
    return `<span>${control(` id="${id}"`)} <label for="${id}">${escaped(part.label)}</label></span>`;
  }

  /** Id and class of an element: those of a build, or of a single load. */
  #names(text, hasId = true) {
    const own = this.#state.isScrambled ? `x${randomBytes(4).toString('hex')}` : slug(text);
    return `${hasId ? '' : ` id="${own}"`} class="${own}"`;
  }
}
