// The watchlist in the header of every page, kept in the browser.

const KEY = 'ledgerlark.watchlist';

export function watched() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) || [];
  } catch {
    return [];
  }
}

export function toggleWatched(ticker) {
  const list = watched();
  const next = list.includes(ticker) ? list.filter((other) => other !== ticker) : [...list, ticker];
  localStorage.setItem(KEY, JSON.stringify(next));
  showWatchlist();
  return next.includes(ticker);
}

export function showWatchlist() {
  const list = watched();
  document.getElementById('watch-count').textContent = list.length;
  const items = list.map((ticker) => {
    const item = document.createElement('li');
    const link = item.appendChild(document.createElement('a'));
    link.href = 'quote.html?t=' + ticker;
    link.textContent = ticker;
    return item;
  });
  if (items.length === 0) {
    const note = document.createElement('li');
    note.textContent = 'No stocks yet. Add one on its quote page.';
    items.push(note);
  }
  document.getElementById('watch-list').replaceChildren(...items);
}

window.addEventListener('storage', (event) => {
  if (event.key === KEY) showWatchlist();
});
