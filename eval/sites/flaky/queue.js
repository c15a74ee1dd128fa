// The ticket queue: rows are drawn anew every few seconds, in the order of their priority.
(function () {
  'use strict';

  const { load, update, chance, call, element } = window.desk;
  const at = (id) => document.getElementById(id);

  const TICK_MS = 3000;
  const LOG_LINES = 2;
  const STEPS = ['The reply', 'The resolution', 'Closing'];

  let tickets = [];
  let gone = [];
  let tick = 0;
  let openId = '';
  const busy = new Set();

  const record = (id) => ({ replies: [], resolution: '', closed: false, step: 0, ...load().tickets[id] });
  const ticket = (id) => tickets.find((one) => one.id === id);
  const name = (kind, id) => `${kind}${Math.floor(chance(`${kind} ${tick} ${id}`) * 36 ** 6).toString(36)}`;
  const priority = (id) => Math.round(60 * chance(`base ${id}`) + 39 * chance(`${tick} ${id}`));

  function tell(text, kind) {
    const log = at('log');
    for (const old of log.querySelectorAll('.busy')) old.remove();
    log.prepend(element('li', { className: kind || '' }, text));
    while (log.children.length > LOG_LINES) log.lastChild.remove();
  }

  function shown() {
    const words = at('filter').value.trim().toLowerCase();
    const closed = at('closed').checked;
    return tickets
      .filter((one) => !gone.includes(one.id) && (!one.follows || gone.includes(one.follows)))
      .filter((one) => record(one.id).closed === closed)
      .filter((one) => `${one.id} ${one.subject} ${one.customer} ${one.dock}`.toLowerCase().includes(words))
      .sort((one, other) => priority(other.id) - priority(one.id) || (one.id < other.id ? -1 : 1));
  }

  function button(one, mine) {
    if (record(one.id).closed) return element('span', { className: 'tag done' }, 'Closed');
    const label = mine ? 'Release' : 'Take';
    return element('button', {
      type: 'button',
      id: name('b', one.id),
      className: `button small${mine ? ' mine' : ''}`,
      onclick: () => setOwner(one.id, !mine),
    }, busy.has(one.id) ? '…' : label);
  }

  function row(one, mine) {
    const score = priority(one.id);
    const level = score > 66 ? ' high' : score > 40 ? ' mid' : '';
    return element('tr', { id: name('r', one.id) },
      element('td', {}, element('span', { className: `rank${level}` }, score)),
      element('td', {}, element('button', { type: 'button', id: name('o', one.id), className: 'open', onclick: () => open(one.id) }, one.id)),
      element('td', { className: 'wide' }, one.subject),
      element('td', {}, one.dock),
      element('td', { className: 'opt' }, one.customer),
      element('td', { className: 'opt num' }, `${one.waiting + Math.floor(tick / 20)} min`),
      element('td', {}, button(one, mine)));
  }

  function render() {
    const { mine } = load();
    const list = shown();
    at('rows').replaceChildren(...list.map((one) => row(one, mine.includes(one.id))));
    at('none').hidden = list.length > 0;
    at('mine').textContent = `${mine.length} taken by you`;
  }

  async function loadQueue(first) {
    at('wait').hidden = !first;
    at('again').hidden = true;
    at('wait-text').textContent = 'Loading the queue …';
    if (!first) tell('Refreshing the queue …', 'busy');
    try {
      tickets = (await call('tickets')).tickets;
      gone = load().foundClosed;
      at('wait').hidden = true;
      at('table').hidden = false;
      if (!first) {
        window.tracker.track('queue_refreshed', {});
        tell('The queue is up to date.');
      }
      render();
    } catch (error) {
      at('wait-text').textContent = `The queue was not loaded. ${error.message}`;
      at('again').hidden = false;
      if (!first) tell(`The queue was not refreshed. ${error.message}`, 'bad');
    }
  }

  /** True, and the visitor is told, if a colleague has closed the ticket meanwhile. */
  function closedMeanwhile(id, answer) {
    const found = answer.closed.find((one) => one.id === id);
    if (!found) return false;
    update((state) => {
      if (!state.foundClosed.includes(id)) state.foundClosed.push(id);
    });
    window.tracker.track('ticket_stale', { ticketId: id });
    tell(`${id} is already closed by ${found.by}. Refresh the queue.`, 'bad');
    return true;
  }

  async function setOwner(id, take) {
    if (busy.has(id)) return;
    busy.add(id);
    render();
    try {
      const answer = await call('owner');
      if (!closedMeanwhile(id, answer)) storeOwner(id, take);
    } catch (error) {
      tell(`${id} was not ${take ? 'taken' : 'released'}. ${error.message}`, 'bad');
    }
    busy.delete(id);
    render();
  }

  function storeOwner(id, take) {
    const { mine } = update((state) => {
      state.mine = state.mine.filter((one) => one !== id);
      if (take) state.mine.push(id);
    });
    window.tracker.track('ticket_owner', { ticketId: id, mine: take });
    window.tracker.track('desk_state', { mine: mine.slice().sort().join(', '), tickets: mine.length });
    tell(`${id} is ${take ? 'yours' : 'free again'}.`);
  }

  function open(id) {
    openId = id;
    const one = ticket(id);
    at('pane-title').textContent = `${one.id} ${one.subject}`;
    at('pane-sub').textContent = `${one.customer}, ${one.dock}`;
    at('pane-text').textContent = one.text || 'No further text.';
    at('reply').value = '';
    at('resolution').value = '';
    say('');
    renderPane();
    at('pane').hidden = false;
    at('hint').hidden = true;
  }

  function renderPane() {
    const { replies, closed, resolution } = record(openId);
    at('pane-closed').hidden = !closed;
    at('pane-closed').textContent = `Closed: ${resolution}`;
    at('form').hidden = closed;
    at('replies').replaceChildren(...replies.map((text, index) => element('li', {},
      element('span', {}, text),
      element('button', { type: 'button', className: 'link', onclick: () => withdraw(openId, index) }, 'Withdraw'))));
  }

  function say(text, kind) {
    at('state').textContent = text;
    at('state').className = `state ${kind || ''}`;
  }

  function result(id, text, kind) {
    if (id === openId) say(text, kind);
  }

  function change(id, act) {
    const state = update((all) => {
      all.tickets[id] = record(id);
      act(all.tickets[id]);
    });
    const { replies, resolution, closed } = state.tickets[id];
    window.tracker.track('ticket_state', {
      ticketId: id,
      replies: replies.length,
      value: replies.length ? replies[replies.length - 1].slice(0, 400) : '',
      resolution,
      closed,
      closedTotal: Object.values(state.tickets).filter((one) => one.closed).length,
    });
    if (id === openId) renderPane();
    render();
  }

  function withdraw(id, index) {
    change(id, (one) => one.replies.splice(index, 1));
    say('The reply was withdrawn.');
  }

  function store(id, step, text, resolution) {
    change(id, (one) => {
      if (step === 0) one.replies.push(text);
      if (step === 1) one.resolution = resolution;
      if (step === 2) one.closed = true;
      one.step = Math.max(one.step, step + 1);
    });
  }

  async function send(event) {
    event.preventDefault();
    const id = openId;
    const text = at('reply').value.trim();
    const resolution = at('resolution').value;
    let { step } = record(id);
    if (!text && step === 0) return say('Write a reply first.', 'bad');
    if (!resolution) return say('Choose a resolution first.', 'bad');
    say('Sending …');
    try {
      while (step < STEPS.length) {
        const answer = await call('reply');
        if (step === 0 && closedMeanwhile(id, answer)) return result(id, `${id} is already closed. Refresh the queue.`, 'bad');
        store(id, step, text, resolution);
        step = record(id).step;
      }
      return result(id, 'The reply was sent and the ticket is closed.', 'good');
    } catch (error) {
      const done = STEPS.slice(0, step).map((part) => `${part} was stored.`).join(' ');
      return result(id, `${done} ${STEPS[step]} was not stored. ${error.message}`.trim(), 'bad');
    }
  }

  at('again').addEventListener('click', () => loadQueue(true));
  at('refresh').addEventListener('click', () => loadQueue(false));
  at('filter').addEventListener('input', render);
  at('closed').addEventListener('change', render);
  at('form').addEventListener('submit', send);
  setInterval(() => {
    tick += 1;
    if (tickets.length > 0) render();
  }, TICK_MS);
  loadQueue(true);
})();
