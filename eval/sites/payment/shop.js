// Basket, money and small helpers of the shop's own pages.
(function () {
  'use strict';

  const { GOODS, COUPONS, DELIVERY, PICKUP, WRAP } = window.goods;
  const KEY = 'brindlewick';

  if (location.origin === window.evalRun.b) location.replace(window.evalRun.a + location.pathname);

  const fresh = () => ({ basket: {}, coupon: '', orders: 0 });

  function load() {
    try {
      return { ...fresh(), ...JSON.parse(localStorage.getItem(KEY)) };
    } catch {
      return fresh();
    }
  }

  const save = (state) => localStorage.setItem(KEY, JSON.stringify(state));
  const product = (sku) => GOODS.find((one) => one.sku === sku);
  const money = (cents) => `$${(cents / 100).toFixed(2)}`;
  const lines = (state) => Object.entries(state.basket).map(([sku, quantity]) => ({ ...product(sku), quantity }));
  const pieces = (state) => Object.values(state.basket).reduce((sum, quantity) => sum + quantity, 0);

  function discount(code, goodsCents) {
    const coupon = COUPONS[code];
    return coupon && !coupon.expired && goodsCents >= coupon.from ? coupon.off(goodsCents) : 0;
  }

  function totals(state, { pickup = false, wrap = false } = {}) {
    const goods = lines(state).reduce((sum, one) => sum + one.cents * one.quantity, 0);
    const off = discount(state.coupon, goods);
    const delivery = pickup ? PICKUP : DELIVERY;
    const wrapping = wrap ? WRAP : 0;
    return { goods, off, delivery, wrapping, total: goods - off + delivery + wrapping };
  }

  /** Why a coupon is not accepted; an empty text if it is. */
  function couponProblem(code, state) {
    const coupon = COUPONS[code];
    if (!coupon) return 'We do not know this coupon.';
    if (coupon.expired) return 'This coupon has expired.';
    if (totals(state).goods < coupon.from) return `This coupon needs goods for ${money(coupon.from)} or more.`;
    return '';
  }

  function setQuantity(sku, quantity) {
    const state = load();
    if (quantity > 0) state.basket[sku] = quantity;
    else delete state.basket[sku];
    save(state);
    window.tracker.track('basket_change', { sku, quantity });
    return state;
  }

  function element(tag, properties, ...children) {
    const { aria, ...rest } = properties || {};
    const node = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(aria || {})) node.setAttribute('aria-' + name, value);
    node.append(...children);
    return node;
  }

  function art(sku) {
    const box = element('div', { className: 'art' });
    box.innerHTML = product(sku).art;
    return box;
  }

  function showCount() {
    const count = pieces(load());
    const badge = document.getElementById('count');
    badge.textContent = count;
    badge.hidden = count === 0;
  }

  /** Rows of a sum of money: label, amount, and a class. */
  function showSum(list, rows) {
    list.replaceChildren(...rows.flatMap(([label, amount, className]) => [
      element('dt', { className: className || '' }, label),
      element('dd', { className: className || '' }, amount),
    ]));
  }

  function sumRows(sum, coupon) {
    const rows = [['Goods', money(sum.goods)]];
    if (sum.off) rows.push([`Coupon ${coupon}`, `−${money(sum.off)}`]);
    if (sum.wrapping) rows.push(['Gift wrap', money(sum.wrapping)]);
    rows.push(['Delivery', money(sum.delivery)], ['Total', money(sum.total), 'total']);
    return rows;
  }

  window.addEventListener('pageshow', showCount);
  window.shop = Object.freeze({ load, save, money, lines, totals, couponProblem, setQuantity, element, art, showCount, showSum, sumRows });
})();
