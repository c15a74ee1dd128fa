// The page of one stock: price, chart, figures and peers.

import { cellOf, columns } from './columns.js';
import { historyOf, stockOf, stocks } from './market.js';
import { showWatchlist, toggleWatched, watched } from './watchlist.js';

const FIGURES = [
  'cap', 'pe', 'fpe', 'peg', 'ps', 'pb', 'div', 'epsyoy', 'roe', 'netmargin', 'debteq', 'curratio', 'perf1w', 'perf4w', 'perf13w', 'perf26w',
  'perf52w', 'perfytd', 'beta', 'rsi', 'sma50', 'high52', 'low52', 'recom', 'avgvol', 'relvol', 'volume',
];

const byId = (id) => document.getElementById(id);
const ticker = (new URLSearchParams(location.search).get('t') || '').toUpperCase();
const stock = stockOf(ticker);

function show() {
  byId('quote-ticker').textContent = stock.ticker;
  byId('quote-company').textContent = stock.company;
  byId('quote-groups').textContent = [stock.sectorName, stock.industryName, stock.countryName, stock.exchangeName + ' Exchange'].join(' · ');
  byId('quote-price').textContent = '$' + stock.price.toFixed(2);
  const change = cellOf(stock, 'change');
  byId('quote-change').textContent = change.text;
  byId('quote-change').className = change.tone;
  byId('figures').append(...FIGURES.map(figure));
  byId('peers').append(...peers().map(peerLink));
  showChart(historyOf(stock));
  showWatchButton(watched().includes(ticker));
  byId('watch').addEventListener('click', () => {
    const now = toggleWatched(ticker);
    showWatchButton(now);
    window.tracker.track('watchlist_toggle', { ticker, watched: now });
  });
}

function figure(key) {
  const { text, tone } = cellOf(stock, key);
  const group = document.createElement('div');
  const term = group.appendChild(document.createElement('dt'));
  const value = group.appendChild(document.createElement('dd'));
  term.textContent = columns[key].label;
  value.textContent = text;
  value.className = tone;
  return group;
}

function peers() {
  return stocks.filter((other) => other.industry === stock.industry && other !== stock).slice(0, 8);
}

function peerLink(peer) {
  const link = document.createElement('a');
  link.href = 'quote.html?t=' + peer.ticker;
  link.title = peer.company;
  link.textContent = peer.ticker;
  return link;
}

function showWatchButton(on) {
  byId('watch').setAttribute('aria-pressed', on);
  byId('watch').textContent = on ? 'On watchlist' : 'Add to watchlist';
}

function showChart(prices) {
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const x = (day) => 10 + (day * 570) / (prices.length - 1);
  const y = (price) => 235 - ((price - low) * 210) / (high - low || 1);
  const points = prices.map((price, day) => `${x(day).toFixed(1)},${y(price).toFixed(1)}`).join(' ');
  const lines = [0, 1, 2, 3].map((step) => {
    const price = low + ((high - low) * step) / 3;
    return `<line x1="10" x2="580" y1="${y(price)}" y2="${y(price)}"/><text x="588" y="${y(price) + 4}">${price.toFixed(2)}</text>`;
  });
  byId('chart').innerHTML = `${lines.join('')}<polygon points="10,245 ${points} 580,245"/><polyline points="${points}"/>`;
}

/** The visit came from a link of the screener, and not from an address or a reload. */
function cameFromScreener() {
  const [entry] = performance.getEntriesByType('navigation');
  if (!document.referrer || !entry || entry.type !== 'navigate') return false;
  const { origin, pathname } = new URL(document.referrer);
  const screener = new URL('./', location.href).pathname;
  return origin === location.origin && [screener, screener + 'index.html'].includes(pathname);
}

document.title = stock ? `${stock.ticker} - ${stock.company} | Ledgerlark` : 'No such ticker | Ledgerlark';
window.tracker = new window.AgentTracker('finviz', 'medium');
byId(stock ? 'quote' : 'unknown').hidden = false;
showWatchlist();
if (stock) {
  show();
  if (cameFromScreener()) window.tracker.track('quote_open', { ticker, source: 'screener', newTab: history.length === 1 });
}
