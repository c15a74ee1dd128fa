// The feed: search, channels, filter, refresh and the cards in a masonry grid.

import { CHANNELS, countComments } from './notes.js';
import { avatar, byId, el, shortCount } from './dom.js';
import { draw } from './art.js';
import { random, shuffle } from './random.js';
import * as store from './store.js';

const LATE_FROM = 18;
const ROW = 4;
const GAP = 16;
const track = (type, data) => window.tracker.track(type, data);

export const normalize = (text) => text.trim().toLowerCase().replace(/\s+/g, ' ');

function score(note, query) {
  const title = note.title.toLowerCase();
  const fields = [[title, 3], [note.tags.join(' '), 2], [note.author.toLowerCase(), 2], [note.story.join(' ').toLowerCase(), 1]];
  let sum = title.includes(query) ? 6 : 0;
  for (const word of query.split(' ')) {
    const hits = fields.filter(([text]) => text.includes(word));
    if (hits.length === 0) return 0;
    sum += hits.reduce((points, [, weight]) => points + weight, 0);
  }
  return sum;
}

/** Notes that are marked `late` never come among the first. */
function drawOrder(notes, rng) {
  const order = shuffle(notes, rng);
  for (let index = 0; index < LATE_FROM; index += 1) {
    while (order[index].late) {
      const other = LATE_FROM + Math.floor(rng() * (order.length - LATE_FROM));
      [order[index], order[other]] = [order[other], order[index]];
    }
  }
  return order;
}

const namesakeOf = (notes, note) => notes.find((other) => other !== note && other.title === note.title);

function rankInChannel(order, note) {
  return order.filter((other) => other.channels[0] === note.channels[0]).indexOf(note);
}

/** After a refresh the namesake of a late note stands where that note stood in its channel. */
function drawNextOrder(previous, rng) {
  const pairs = previous.filter((note) => note.late && namesakeOf(previous, note));
  const fits = (order) => pairs.every((note) => rankInChannel(order, namesakeOf(order, note)) === rankInChannel(previous, note));
  let order = drawOrder(previous, rng);
  while (!fits(order)) order = drawOrder(previous, rng);
  return order;
}

function coverOf(note) {
  if (note.quote) return el('span', { class: 'cover cover-quote', style: `--hue: ${(note.likes * 47) % 360}` }, note.quote);
  return el('span', { class: `cover cover-${note.shape}`, html: draw(note.slides[0]) });
}

export function startFeed(notes, seed, detail) {
  const rng = random(`feed ${seed}`);
  const feed = byId('feed');
  const input = byId('search-input');
  const view = { channel: CHANNELS[0].id, imagesOnly: false, query: '', refreshes: 0 };
  let order = drawOrder(notes, rng);

  function shownNotes() {
    const inChannel = order.filter((note) => view.channel === CHANNELS[0].id || note.channels.includes(view.channel));
    const ofKind = view.imagesOnly ? inChannel.filter((note) => note.slides.length > 0) : inChannel;
    if (!view.query) return ofKind;
    return ofKind
      .map((note) => ({ note, points: score(note, view.query) }))
      .filter(({ points }) => points > 0)
      .sort((one, other) => other.points - one.points)
      .map(({ note }) => note);
  }

  function card(note) {
    const liked = store.has('liked', note.id);
    const comments = countComments(note.comments) + store.writtenCount(note.id);
    return el('article', { class: 'card', 'data-note': note.id },
      el('button', { class: 'card-open', type: 'button', 'aria-label': `Open note: ${note.title}`, onclick: () => open(note, sourceNow()) },
        coverOf(note),
        el('span', { class: 'card-title' }, note.title)),
      el('div', { class: 'card-foot' },
        el('span', { class: 'card-author' }, avatar(note.author), el('span', {}, note.author)),
        el('button', { class: 'card-action like', type: 'button', 'aria-pressed': String(liked), onclick: () => like(note) },
          el('span', { class: 'glyph' }, liked ? '♥' : '♡'), ` ${shortCount(note.likes + (liked ? 1 : 0))}`),
        el('button', { class: 'card-action comment', type: 'button', onclick: () => openComments(note) },
          el('span', { class: 'glyph' }, '◔'), ` ${comments}`)));
  }

  function layOut() {
    const cards = [...feed.querySelectorAll('.card')];
    const heights = cards.map((element) => element.offsetHeight);
    cards.forEach((element, index) => {
      element.style.gridRowEnd = `span ${Math.ceil((heights[index] + GAP) / ROW)}`;
    });
  }

  function statusText(count, label) {
    const found = `${count} ${count === 1 ? 'note' : 'notes'}${view.query ? ` for “${view.query}”` : ''}`;
    return view.channel === CHANNELS[0].id ? found : `${found} in ${label}`;
  }

  function render() {
    const shown = shownNotes();
    const label = CHANNELS.find(({ id }) => id === view.channel).label;
    feed.replaceChildren(...shown.map(card));
    if (shown.length === 0) feed.append(el('p', { class: 'empty' }, `No notes in “${label}” match this search.`));
    layOut();
    byId('feed-status').textContent = statusText(shown.length, label);
    byId('search-clear').hidden = input.value === '' && !view.query;
    byId('images-only').setAttribute('aria-pressed', String(view.imagesOnly));
    for (const chip of byId('channels').children) chip.setAttribute('aria-pressed', String(chip.dataset.channel === view.channel));
    return shown.length;
  }

  function sourceNow() {
    if (view.query) return 'search';
    return view.channel === CHANNELS[0].id ? 'feed' : 'channel';
  }

  function open(note, source) {
    track('note_open', { noteId: note.id, noteTitle: note.title, source, query: view.query, channel: view.channel });
    detail.open(note, { onChange: render, onClose: () => focusCard(note), focusComments: source === 'comment' });
  }

  function openComments(note) {
    track('card_comment_open', { noteId: note.id, noteTitle: note.title });
    open(note, 'comment');
  }

  function focusCard(note) {
    const button = feed.querySelector(`[data-note="${note.id}"] .card-open`);
    if (button) button.focus({ preventScroll: true });
  }

  function like(note) {
    const liked = store.toggle('liked', note.id);
    track('note_like_toggle', { noteId: note.id, noteTitle: note.title, liked, location: 'card', likedNotes: store.listOf('liked') });
    render();
    feed.querySelector(`[data-note="${note.id}"] .like`).focus({ preventScroll: true });
  }

  function setAddress() {
    const address = view.query ? `?q=${encodeURIComponent(view.query)}` : './';
    history.pushState(null, '', address);
  }

  function clearSearch() {
    const query = view.query;
    input.value = '';
    view.query = '';
    if (query) {
      track('search_clear', { query });
      setAddress();
    }
    render();
    input.focus();
  }

  function search(location) {
    const query = input.value.trim();
    if (!query) {
      clearSearch();
      return;
    }
    const changed = view.query !== normalize(query);
    view.query = normalize(query);
    const resultsCount = render();
    track('search_execute', { query, normalizedQuery: view.query, location, resultsCount });
    if (changed) setAddress();
    scrollTo(0, 0);
  }

  function switchChannel(channel) {
    if (channel === view.channel) return;
    const previous = view.channel;
    view.channel = channel;
    track('channel_switch', { channel, previous });
    render();
    scrollTo(0, 0);
  }

  function toggleImagesOnly() {
    view.imagesOnly = !view.imagesOnly;
    track('filter_toggle', { filter: 'images', enabled: view.imagesOnly });
    render();
  }

  function refresh() {
    order = drawNextOrder(order, rng);
    view.refreshes += 1;
    track('feed_refresh', { channel: view.channel, query: view.query, times: view.refreshes });
    render();
    scrollTo(0, 0);
  }

  function readAddress() {
    const query = new URLSearchParams(window.location.search).get('q') || '';
    view.query = normalize(query);
    input.value = query;
    render();
  }

  byId('channels').append(...CHANNELS.map(({ id, label }) =>
    el('button', { class: 'chip', type: 'button', 'data-channel': id, onclick: () => switchChannel(id) }, label)));
  byId('search-form').addEventListener('submit', (event) => {
    event.preventDefault();
    search('icon');
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    search('enter');
  });
  input.addEventListener('input', () => {
    byId('search-clear').hidden = input.value === '' && !view.query;
  });
  byId('search-clear').addEventListener('click', clearSearch);
  byId('images-only').addEventListener('click', toggleImagesOnly);
  byId('refresh').addEventListener('click', refresh);
  window.addEventListener('popstate', readAddress);
  window.addEventListener('resize', layOut);
  readAddress();
}
