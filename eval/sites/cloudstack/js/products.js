/** CloudStack catalogue: products by category and search. */
(function () {
  'use strict';
  const { find, findAll, badge, consoleLink, CATEGORIES, PRODUCTS } = window.cloud;
  const chosen = { category: 'All', words: '' };

  const count = (name) => PRODUCTS.filter((entry) => name === 'All' || entry.category === name).length;
  const chip = (name) => `<button type="button" data-category="${name}" aria-pressed="${name === chosen.category}">${name} <span class="small">${count(name)}</span></button>`;
  const card = (entry) => `<article class="card product"><div class="row">${badge(entry)}<div><h3>${entry.name}</h3><span class="small soft">${entry.category}</span></div></div><p>${entry.text}</p>
    <div class="links">${consoleLink(entry, 'Console', `aria-label="${entry.name} console"`)}<a href="pricing.html">Prices</a></div></article>`;

  function draw() {
    const hits = PRODUCTS.filter((entry) => (chosen.category === 'All' || entry.category === chosen.category)
      && `${entry.code} ${entry.name} ${entry.text}`.toLowerCase().includes(chosen.words));
    find('#categories').innerHTML = ['All', ...CATEGORIES].map(chip).join('');
    find('#product-list').innerHTML = hits.map(card).join('') || '<p class="soft">No product matches.</p>';
    find('#product-count').textContent = `${hits.length} of ${PRODUCTS.length} products`;
  }

  find('#categories').addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    chosen.category = button.dataset.category;
    tracker.track('category_filter', { category: chosen.category });
    draw();
    findAll('#categories button').find((other) => other.dataset.category === chosen.category).focus();
  });
  find('#product-search').addEventListener('input', (event) => {
    chosen.words = event.target.value.trim().toLowerCase();
    draw();
  });
  draw();
})();
