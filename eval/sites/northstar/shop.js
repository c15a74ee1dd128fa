// The product page: header, purchase panel, and the two drawers.

import { setUpFitGuide } from './fit-guide.js';
import { whenCentred } from './geometry.js';
import { setUpReviews } from './reviews.js';

const tracker = new window.AgentTracker('northstar', 'medium');
window.tracker = tracker;

const byId = (id) => document.getElementById(id);
const bag = { size: '', savedGuide: '' };

function setUpHeader() {
  const say = (text) => {
    byId('top-note').textContent = text;
    byId('top-note').hidden = false;
  };
  for (const button of document.querySelectorAll('[data-note]')) button.addEventListener('click', () => say(button.dataset.note));
  byId('search-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const query = byId('search-box').value.trim();
    if (!query) return;
    say(`Nothing else in the shop matches “${query}” today.`);
    tracker.track('shop_search', { query });
  });
  byId('sizing-help').addEventListener('click', () => {
    byId('help-note').textContent = 'Our fit team answers on weekdays from 9 to 5.';
    tracker.track('sizing_help_click', {});
  });
}

function setUpPurchase() {
  const sizes = [...document.querySelectorAll('[data-size]')];
  const add = byId('add-to-bag');
  for (const button of sizes) {
    button.addEventListener('click', () => {
      bag.size = button.dataset.size;
      for (const other of sizes) other.setAttribute('aria-pressed', other === button);
      add.disabled = false;
      byId('purchase-feedback').textContent = `Size ${bag.size} is in stock.`;
      tracker.track('product_size_select', { size: bag.size });
    });
  }
  add.addEventListener('click', () => {
    for (const button of [add, ...sizes]) button.disabled = true;
    add.textContent = 'Added to bag';
    byId('bag-count').textContent = '1';
    const guide = bag.savedGuide ? ', with your saved guide' : '';
    byId('purchase-feedback').textContent = `Tern Rain Shell in size ${bag.size} is in your bag${guide}.`;
    tracker.track('product_add_to_bag', { product: 'tern-rain-shell', size: bag.size, savedGuide: bag.savedGuide });
  });
  whenCentred(window, byId('purchase-rail'), () => tracker.track('purchase_rail_geometry_ready', {}));
}

setUpHeader();
setUpPurchase();
setUpFitGuide(tracker, (section) => {
  bag.savedGuide = section;
});
setUpReviews(tracker);
