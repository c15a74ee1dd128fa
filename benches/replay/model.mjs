// A model behind an endpoint, as the OpenAI API has it: it compiles a recording into the text of the site, and finishes single steps of runs
// by what is known about the mutation. It never uses an element that is not the one.

import http from 'node:http';

import { parseSnapshot } from '../widgets/tools/snapshot.mjs';

const TOPICS = ['position_or_identity', 'subset', 'filter_touched', 'varying_value', 'computed_value', 'overlay'];

const call = (name, fields) => ({ name, fields });

export class Model {
  #server;
  requests = 0;
  /** For runs: the site, and where its elements are now. */
  site;
  truth;
  /** Whether the overlay was closed in the present step. */
  isClosed = false;
  /** For compiling: the text, and the events of its steps. */
  text;
  stepEvents;
  eventCount = 0;

  async start() {
    this.#server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise((ready) => this.#server.listen(0, '127.0.0.1', ready));
    this.url = `http://127.0.0.1:${this.#server.address().port}/v1`;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request, response) {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      this.requests += 1;
      const asked = JSON.parse(body);
      const names = (asked.tools ?? []).map((tool) => tool.function.name);
      const next = names.includes('submit_routine') ? this.#compiling(asked.messages) : this.#running(asked.messages);
      this.#send(response, next, asked.stream);
    });
  }

  #send(response, next, isStream) {
    const calls = [next].flat();
    const message = typeof next === 'string' ? { role: 'assistant', content: next } : { role: 'assistant', content: null };
    if (typeof next !== 'string') {
      message.tool_calls = calls.map(({ name, fields }, index) => ({
        index,
        id: `call_${this.requests}_${index}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(fields) },
      }));
    }
    const finish = typeof next === 'string' ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!isStream) {
      response.setHeader('Content-Type', 'application/json');
      return response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }], usage }));
    }
    response.setHeader('Content-Type', 'text/event-stream');
    const chunk = (delta, reason = null, more = {}) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }], ...more })}\n\n`);
    chunk(message);
    chunk({}, finish, { usage });
    response.end('data: [DONE]\n\n');
  }

  #compiling(messages) {
    const events = Array.from({ length: this.eventCount }, (_, at) => at + 1);
    const ask = (topic) => call('ask_user', { question: `What about ${topic}?`, topic, events });
    switch (messages.filter(({ role }) => role === 'assistant').length) {
      case 0:
        return [call('trace_viewer', { command: 'summary' }), call('trace_viewer', { command: 'normalized_steps' })];
      case 1:
        return TOPICS.slice(0, 3).map(ask);
      case 2:
        return TOPICS.slice(3).map(ask);
      case 3:
        return call('submit_routine', { markdown: this.text, step_events: this.stepEvents });
      default:
        return 'Written.';
    }
  }

  /** The next call in a run: what is left of the step that was handed over. */
  #running(messages) {
    const contents = messages.map(({ role, content }) => ({ role, text: typeof content === 'string' ? content : JSON.stringify(content) }));
    const at = contents.findLastIndex(({ role, text }) => role === 'user' && text.includes('is yours'));
    if (at < 0) return 'All steps are done.';
    const notice = contents[at].text;
    const step = Number(/Step (\d+) is yours/.exec(notice)[1]);
    const done = /the first (\d+) actions of this one/.exec(notice)?.[1] ?? (notice.includes('the first action of this one') ? 1 : 0);
    const left = this.site.work[step - 1].slice(Number(done));
    if (this.step !== at) Object.assign(this, { step: at, isClosed: false });
    const since = messages.slice(at + 1);
    const own = since.filter(({ role }) => role === 'assistant').flatMap(({ tool_calls: calls }) => calls ?? []);
    const last = contents.at(-1);
    if (own.at(-1)?.function.name === 'routine_step') return 'All steps are done.';
    const isSnapshot = own.at(-1)?.function.name === 'browser_snapshot';
    const acted = own.filter(({ function: { name } }) => ['browser_click', 'browser_type', 'browser_select'].includes(name)).length;
    const action = left[acted - (this.isClosed ? 1 : 0)];
    if (last.text.includes('"pending_dialogs":[{') && action === undefined) return call('browser_dialog', { action: 'accept' });
    if (action === undefined) return call('routine_step', { command: 'done', n: step });
    if (!isSnapshot) return call('browser_snapshot', { full: true });
    const lines = parseSnapshot(JSON.parse(last.text).snapshot ?? '');
    const closing = refOf(lines, { role: 'button', name: 'Only necessary ones' });
    if (closing) {
      this.isClosed = true;
      return call('browser_click', { ref: closing });
    }
    const wanted = this.truth.get(action);
    const ref = wanted && refOf(lines, wanted);

    if (!ref) return call('routine_step', { command: 'blocked', n: step, note: 'It is not there.' });
    switch (action.kind) {
      case 'fill':
        return call('browser_type', { ref, text: action.value });
      case 'choose':
        return call('browser_select', { ref, values: [action.value] });
      default:
        return call('browser_click', { ref });
    }
  }
}

/** The ref of an element that is the only one of its kind. */
function refOf(lines, at) {
  const isIn = (index, fits) => {
    for (let outer = lines[index].parent; outer >= 0; outer = lines[outer].parent) if (fits(lines[outer], outer)) return true;
    return false;
  };
  const titled = (name) => (line, index) =>
    line.name === name || line.name?.startsWith(`${name} `) || lines.some((other, of) => other.parent === index && (other.name === name || other.value === name));
  const fits = lines.filter((line, index) => {
    if (line.role !== at.role || line.name !== at.name || !line.ref) return false;
    if (at.in && !isIn(index, titled(at.in.name))) return false;
    const inFrame = isIn(index, (outer) => outer.role === 'iframe' && outer.name === at.frame);
    return at.frame ? inFrame : !isIn(index, (outer) => outer.role === 'iframe');
  });
  return fits.length === 1 ? fits[0].ref : undefined;
}
