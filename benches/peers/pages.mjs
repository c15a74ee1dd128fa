// Two sites of different origin, and the reports of their pages.

import http from 'node:http';

const MESSAGE = 'Shall we go on?';

// The script that a page runs when it is released.
const DOINGS = {
  nothing: '',
  alert: `alert('${MESSAGE}'); tell('answered');`,
  confirm: `confirm('${MESSAGE}'); tell('answered');`,
  prompt: `prompt('${MESSAGE}'); tell('answered');`,
  leave: `location.href = '/left?id=' + id;`,
  loop: 'while (true) {}',
};

const ASK_BEFORE_LEAVING = `addEventListener('beforeunload', (event) => {
  event.preventDefault();
  event.returnValue = 'x';
});`;

const page = (doing, id, { during = false, frame = '', button = true } = {}) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Page of ${id}</title></head><body>
<h1>A page</h1>
${button ? `<button id="press" onclick="tell('pressed')">Press me</button>` : '<p>A frame</p>'}
<script>
const id = '${id}';
const tell = async (what) => (await fetch('/tell?what=' + what + '&id=' + id)).text();
${button ? "console.log('hello from the page');" : ''}
${doing === 'leave' ? ASK_BEFORE_LEAVING : ''}
const act = () => { ${DOINGS[doing]} };
const whenReleased = async () => {
  const released = async () => (await (await fetch('/released?id=' + id)).text()) === 'yes';
  while (!(await released())) await new Promise((next) => setTimeout(next, 150));
  await tell('entered');
  setTimeout(act, 0);
};
</script>
${during ? "<script>tell('entered'); act();</script>" : ''}
${frame ? `<iframe src="${frame}" width="300" height="100"></iframe>` : ''}
${during || frame ? '' : '<script>whenReleased();</script>'}
</body></html>`;

/** Serves both sites; `close` stops them. */
export class Sites {
  #servers = [];
  #told = new Map();
  #released = new Set();
  #count = 0;

  async start() {
    for (const host of ['a.localhost', 'b.localhost']) {
      const server = http.createServer((request, response) => this.#answer(request, response));
      await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
      this.#servers.push({ server, base: `http://${host}:${server.address().port}` });
    }
  }

  newId() {
    this.#count += 1;
    return `p${this.#count}`;
  }

  /** The address of a page: `kind` selects its behaviour, `id` is unique per visit. */
  address(kind, id) {
    return `${this.#servers[0].base}/${kind}?id=${id}`;
  }

  release(id) {
    this.#released.add(id);
  }

  /** How often a page reported `what`. */
  times(id, what) {
    return this.#told.get(`${id} ${what}`) ?? 0;
  }

  async until(id, what, limit) {
    const end = Date.now() + limit;
    while (this.times(id, what) === 0) {
      if (Date.now() > end) return false;
      await new Promise((next) => setTimeout(next, 25));
    }
    return true;
  }

  close() {
    for (const { server } of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  #answer(request, response) {
    const url = new URL(request.url, 'http://host');
    const id = (url.searchParams.get('id') ?? '').replace(/\W/g, '');
    const told = (what) => this.#told.set(`${id} ${what}`, this.times(id, what) + 1);
    response.setHeader('Cache-Control', 'no-store');
    if (url.pathname === '/released') {
      response.end(this.#released.has(id) ? 'yes' : 'no');
    } else if (url.pathname === '/tell') {
      told(url.searchParams.get('what'));
      response.end();
    } else if (url.pathname === '/left') {
      told('answered');
      this.#show(response, page('nothing', id));
    } else {
      this.#show(response, this.#page(url.pathname.slice(1), id));
    }
  }

  #show(response, html) {
    response.statusCode = html ? 200 : 404;
    response.setHeader('Content-Type', 'text/html');
    response.setHeader('Set-Cookie', 'peer=1; Path=/');
    response.end(html ?? '');
  }

  #page(kind, id) {
    const [doing, where] = kind.split('-');
    if (!(doing in DOINGS)) return null;
    if (where === 'child') return page(doing, id, { button: false });
    if (where === 'load') return page(doing, id, { during: true });
    const frame = `${this.#servers[1].base}/${doing}-child?id=${id}`;
    if (where === 'frame') return page('nothing', `${id}m`, { frame });
    return page(doing, id);
  }
}
