// The shop window: all goods.
(function () {
  'use strict';

  const { load, money, setQuantity, element, art, showCount } = window.shop;
  const note = document.getElementById('note');

  function add(item) {
    const quantity = (load().basket[item.sku] || 0) + 1;
    setQuantity(item.sku, quantity);
    showCount();
    note.textContent = `${item.name} is in your basket (${quantity}).`;
  }

  document.getElementById('grid').append(...window.goods.GOODS.map((item) => element('article', { className: 'item' },
    art(item.sku),
    element('h2', {}, item.name),
    element('div', { className: 'row' },
      element('span', { className: 'price' }, money(item.cents)),
      element('button', { type: 'button', className: 'button', onclick: () => add(item) }, 'Add to basket')))));
})();
