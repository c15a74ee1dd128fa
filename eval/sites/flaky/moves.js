// Stock moves: booking may fail, and one answer gets lost although the move was booked.
(function () {
  'use strict';

  const { load, update, chance, call, element } = window.desk;
  const at = (id) => document.getElementById(id);

  const ARTICLES = {
    'RP12-50': 'Rope 12 mm, 50 m',
    'RP12-100': 'Rope 12 mm, 100 m',
    'RP14-50': 'Rope 14 mm, 50 m',
    'SH08': 'Shackle 8 mm',
    'SH10': 'Shackle 10 mm',
    'DP-GRY': 'Deck paint, grey',
    'DP-GRN': 'Deck paint, green',
    'FN-S': 'Fender, small',
    'FN-L': 'Fender, large',
  };
  const BIN = /^[A-F]-\d{2}$/;
  const LOST_ANSWER = Math.floor(chance('lost answer') * 3);

  let listed = [];
  let listedOwn = [];

  const bin = (id) => at(id).value.trim().toUpperCase();
  const same = (one, other) => ['article', 'from', 'to', 'quantity'].every((key) => one[key] === other[key]);

  function say(text, kind) {
    at('state').textContent = text;
    at('state').className = `state ${kind || ''}`;
  }

  function row(move, own) {
    const last = own
      ? element('button', { type: 'button', className: 'link', onclick: () => voidMove(move.id) }, 'Void')
      : '';
    return element('tr', {},
      element('td', { className: 'num' }, move.id),
      element('td', { className: 'wide' }, ARTICLES[move.article]),
      element('td', {}, move.from),
      element('td', {}, move.to),
      element('td', { className: 'num' }, move.quantity),
      element('td', { className: 'opt' }, own ? 'You' : move.by),
      element('td', {}, last));
  }

  function render() {
    at('rows').replaceChildren(...listedOwn.slice().reverse().map((move) => row(move, true)), ...listed.map((move) => row(move, false)));
  }

  async function loadList(first) {
    at('wait').hidden = !first;
    at('again').hidden = true;
    at('wait-text').textContent = 'Loading the moves …';
    at('list-state').textContent = first ? '' : 'Refreshing …';
    try {
      listed = (await call('moves')).moves;
      listedOwn = load().moves;
      at('wait').hidden = true;
      at('table').hidden = false;
      at('list-state').textContent = first ? '' : 'Up to date';
      render();
    } catch (error) {
      at('wait-text').textContent = `The moves were not loaded. ${error.message}`;
      at('again').hidden = false;
      at('list-state').textContent = first ? '' : `Not refreshed. ${error.message}`;
    }
  }

  function report(move, moves) {
    const { article, from, to, quantity } = move;
    window.tracker.track('move_state', { article, from, to, quantity, copies: moves.filter((one) => same(one, move)).length });
    window.tracker.track('moves_state', { booked: moves.length });
  }

  function book(move) {
    let id = '';
    const state = update((all) => {
      all.answers += 1;
      id = `MV-${6130 + all.answers * 3}`;
      all.moves.push({ ...move, id });
    });
    report(move, state.moves);
    return { id, lost: state.answers === LOST_ANSWER + 1 };
  }

  function voidMove(id) {
    const move = load().moves.find((one) => one.id === id);
    if (!move) return;
    const state = update((all) => {
      all.moves = all.moves.filter((one) => one.id !== id);
    });
    listedOwn = listedOwn.filter((one) => one.id !== id);
    report(move, state.moves);
    render();
    at('list-state').textContent = `${id} was voided`;
  }

  function problem({ article, from, to, quantity }) {
    if (!article) return 'Choose an article.';
    if (!BIN.test(from) || !BIN.test(to)) return 'A bin is a letter from A to F, a hyphen and two digits, as in B-07.';
    if (from === to) return 'The two bins must differ.';
    return Number.isInteger(quantity) && quantity > 0 && quantity < 1000 ? '' : 'Enter a quantity from 1 to 999.';
  }

  async function send(event) {
    event.preventDefault();
    const move = { article: at('article').value, from: bin('from'), to: bin('to'), quantity: Number(at('quantity').value) };
    const wrong = problem(move);
    if (wrong) return say(wrong, 'bad');
    say('Booking …');
    try {
      await call('book');
    } catch {
      return say('The service is busy. The move was not booked. Try again.', 'bad');
    }
    const { id, lost } = book(move);
    if (lost) return say('No answer in time. The move may be booked or not. Refresh the list before you book it again.', 'bad');
    listedOwn = listedOwn.concat({ ...move, id });
    at('form').reset();
    render();
    return say(`Booked as ${id}.`, 'good');
  }

  at('article').append(...Object.entries(ARTICLES).map(([value, text]) => element('option', { value }, text)));
  at('again').addEventListener('click', () => loadList(true));
  at('refresh').addEventListener('click', () => loadList(false));
  at('form').addEventListener('submit', send);
  loadList(true);
})();
