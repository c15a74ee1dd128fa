// The screener: filters under three tabs, a sortable table in several views, pages of twenty rows.

import { cellOf, chips, columns, ordered, views } from './columns.js';
import { filters, screen } from './filters.js';
import { stocks } from './market.js';
import { showWatchlist } from './watchlist.js';

const PAGE_SIZE = 20;
const STATE_KEY = 'ledgerlark.screener';
const FIRST_ORDER = { column: 'ticker', direction: 'asc' };

const tracker = new window.AgentTracker('finviz', 'medium');
window.tracker = tracker;

const byId = (id) => document.getElementById(id);
const results = byId('results');
const state = { chosen: {}, tickers: [], order: FIRST_ORDER, view: 'overview', tab: 'descriptive', page: 1, ...restored() };
let rows = [];

function restored() {
  try {
    return JSON.parse(sessionStorage.getItem(STATE_KEY)) || {};
  } catch {
    return {};
  }
}

function element(tag, properties = {}, attributes = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function option(value, label) {
  return element('option', { value, textContent: label });
}

function buildFilters() {
  for (const { id, label, tab, options } of filters) {
    const cell = element('label', { className: 'filter', htmlFor: id });
    const select = element('select', { id, name: id });
    select.append(option('', 'Any'), ...options.map(([value, text]) => option(value, text)));
    select.addEventListener('change', () => choose(id, select.value));
    cell.append(element('span', { textContent: label }), select);
    byId('filters-' + tab).append(cell);
  }
}

function buildToolbar() {
  byId('order_by').append(...Object.entries(columns).map(([key, column]) => option(key, column.label)));
  byId('order_by').addEventListener('change', (event) => sortBy(event.target.value, state.order.direction, 'order_select'));
  byId('order_dir').addEventListener('change', (event) => sortBy(state.order.column, event.target.value, 'order_select'));
  byId('ticker-form').addEventListener('submit', (event) => {
    event.preventDefault();
    state.tickers = byId('ticker-box').value.toUpperCase().split(/[\s,]+/).filter(Boolean);
    apply();
  });
  byId('reset').addEventListener('click', () => {
    state.chosen = {};
    state.tickers = [];
    apply();
  });
}

function buildTabs() {
  for (const tab of document.querySelectorAll('[data-tab]')) {
    tab.addEventListener('click', () => {
      state.tab = tab.dataset.tab;
      showFilters();
      save();
      tracker.track('filter_tab', { tab: state.tab });
    });
  }
  for (const [key, { code, label }] of Object.entries(views)) {
    const tab = element('button', { type: 'button', textContent: label }, { role: 'tab', 'data-view': code });
    tab.addEventListener('click', () => {
      state.view = key;
      showResults();
      tracker.track('view_change', { view: key, code });
    });
    byId('views').append(tab);
  }
  for (const [key, label] of chips) {
    const chip = element('button', { type: 'button', textContent: label, className: 'chip' }, { 'data-chip': key });
    chip.addEventListener('click', () => {
      const { column, direction } = state.order;
      sortBy(key, column === key && direction === 'desc' ? 'asc' : 'desc', 'chip');
    });
    byId('sort-chips').append(chip);
  }
}

function choose(id, value) {
  const chosen = { ...state.chosen, [id]: value };
  state.chosen = Object.fromEntries(filters.filter((filter) => chosen[filter.id]).map((filter) => [filter.id, chosen[filter.id]]));
  apply();
}

function sortBy(column, direction, source) {
  state.order = { column, direction };
  tracker.track('sort_change', { column, direction, source });
  apply();
}

/** Screens again from the first page and reports what is shown. */
function apply() {
  state.page = 1;
  showFilters();
  showResults();
  const parts = Object.entries(state.chosen).map(([id, value]) => `${id}=${value}`);
  if (state.tickers.length > 0) parts.push('tickers=' + state.tickers.join(' '));
  const { column, direction } = state.order;
  const order = (direction === 'desc' ? '-' : '') + column;
  tracker.track('screen_result', { ...state.chosen, filters: parts.join(','), total: rows.length, order });
}

function save() {
  sessionStorage.setItem(STATE_KEY, JSON.stringify(state));
}

function showFilters() {
  for (const { id } of filters) {
    const select = byId(id);
    select.value = state.chosen[id] || '';
    select.classList.toggle('set', select.value !== '');
  }
  for (const tab of document.querySelectorAll('[data-tab]')) {
    const current = tab.dataset.tab === state.tab;
    tab.setAttribute('aria-selected', current);
    byId('filters-' + tab.dataset.tab).hidden = !current;
  }
  byId('order_by').value = state.order.column;
  byId('order_dir').value = state.order.direction;
  byId('ticker-box').value = state.tickers.join(', ');
  byId('filter-count').textContent = Object.keys(state.chosen).length + (state.tickers.length > 0 ? 1 : 0);
}

function showResults() {
  const listed = state.tickers.length > 0 ? stocks.filter((stock) => state.tickers.includes(stock.ticker)) : stocks;
  rows = ordered(screen(listed, state.chosen), state.order);
  showViews();
  showHeader();
  showRows();
  for (const place of ['top', 'bottom']) showPager(byId('pager-' + place));
  save();
}

function showViews() {
  for (const tab of byId('views').children) tab.setAttribute('aria-selected', Number(tab.dataset.view) === views[state.view].code);
  byId('sort-chips').hidden = state.view !== 'performance';
  for (const chip of byId('sort-chips').children) chip.setAttribute('aria-pressed', chip.dataset.chip === state.order.column);
}

function showHeader() {
  const cells = views[state.view].columns.map((key) => {
    const { label, numeric } = columns[key];
    const cell = element('th', { textContent: label, tabIndex: 0, scope: 'col' }, { 'data-sort': key });
    cell.classList.toggle('number', Boolean(numeric));
    if (key === state.order.column) {
      cell.classList.add(state.order.direction);
      cell.setAttribute('aria-sort', state.order.direction === 'asc' ? 'ascending' : 'descending');
    }
    return cell;
  });
  results.tHead.rows[0].replaceChildren(element('th', { textContent: 'No.', scope: 'col', className: 'number' }), ...cells);
}

function rowOf(stock, number) {
  const row = element('tr');
  row.append(element('td', { textContent: number, className: 'number muted' }));
  for (const key of views[state.view].columns) {
    const { text, tone } = cellOf(stock, key);
    const cell = element('td', { className: [columns[key].numeric ? 'number' : '', tone].join(' ').trim() });
    if (key === 'ticker') {
      cell.append(element('a', { href: 'quote.html?t=' + text, target: '_blank', rel: 'noopener', className: 'ticker', textContent: text }));
    } else {
      cell.textContent = text;
    }
    row.append(cell);
  }
  return row;
}

function showRows() {
  const first = (state.page - 1) * PAGE_SIZE;
  const shown = rows.slice(first, first + PAGE_SIZE);
  results.tBodies[0].replaceChildren(...shown.map((stock, index) => rowOf(stock, first + index + 1)));
  results.hidden = shown.length === 0;
  byId('no-results').hidden = shown.length > 0;
  const range = shown.length > 0 ? `#${first + 1}-${first + shown.length}` : '#0';
  byId('result-range').textContent = `${range} / ${rows.length} Total`;
}

/** Numbers of the first, the last and the nearest pages; 0 is a gap. */
function pageNumbers(last) {
  const near = Array.from({ length: last }, (_, index) => index + 1).filter((page) => page === 1 || page === last || Math.abs(page - state.page) <= 2);
  return near.flatMap((page, index) => (index > 0 && page - near[index - 1] > 1 ? [0, page] : [page]));
}

function showPager(pager) {
  const last = Math.max(1, Math.ceil(rows.length / PAGE_SIZE));
  const button = (label, page, attributes) => {
    const made = element('button', { type: 'button', textContent: label, disabled: page < 1 || page > last }, attributes);
    made.addEventListener('click', () => turnTo(page));
    return made;
  };
  const numbers = pageNumbers(last).map((page) => {
    if (page === 0) return element('span', { textContent: '…' });
    return button(page, page, page === state.page ? { 'aria-current': 'page' } : {});
  });
  pager.replaceChildren(button('‹', state.page - 1, { 'aria-label': 'Previous page' }), ...numbers, button('›', state.page + 1, { 'aria-label': 'Next page' }));
}

function turnTo(page) {
  state.page = page;
  showResults();
  tracker.track('page_change', { pageNumber: page });
}

function listenToTable() {
  const sort = (cell) => {
    const { column, direction } = state.order;
    const key = cell.dataset.sort;
    sortBy(key, column === key && direction === 'asc' ? 'desc' : 'asc', 'header');
  };
  results.tHead.addEventListener('click', (event) => {
    const cell = event.target.closest('[data-sort]');
    if (cell) sort(cell);
  });
  results.tHead.addEventListener('keydown', (event) => {
    const cell = event.target.closest('[data-sort]');
    if (!cell || event.key !== 'Enter') return;
    sort(cell);
    results.tHead.querySelector(`[data-sort="${cell.dataset.sort}"]`).focus();
  });
  const follow = (event) => {
    const link = event.target.closest('a.ticker');
    if (!link || event.button > 1) return;
    const place = rows.findIndex((stock) => stock.ticker === link.textContent) + 1;
    tracker.track('ticker_open', { ticker: link.textContent, row: place });
  };
  results.tBodies[0].addEventListener('click', follow);
  results.tBodies[0].addEventListener('auxclick', follow);
}

buildFilters();
buildToolbar();
buildTabs();
listenToTable();
showFilters();
showResults();
showWatchlist();
