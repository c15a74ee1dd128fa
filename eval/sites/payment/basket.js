// The basket: quantities and the coupon.
(function () {
  'use strict';

  const { load, save, money, lines, totals, couponProblem, setQuantity, element, art, showCount, showSum, sumRows } = window.shop;
  const MOST = 20;
  const code = document.getElementById('coupon');
  const note = document.getElementById('coupon-note');

  function change(sku, quantity) {
    setQuantity(sku, Math.max(0, Math.min(MOST, Math.trunc(quantity) || 0)));
    render();
  }

  function stepper(item) {
    const field = element('input', { type: 'number', min: 0, max: MOST, value: item.quantity, aria: { label: 'Quantity' } });
    field.addEventListener('change', () => change(item.sku, Number(field.value)));
    return element('div', { className: 'step' },
      element('button', { type: 'button', aria: { label: 'One less' }, onclick: () => change(item.sku, item.quantity - 1) }, '−'),
      field,
      element('button', { type: 'button', aria: { label: 'One more' }, onclick: () => change(item.sku, item.quantity + 1) }, '+'));
  }

  function line(item) {
    return element('div', { className: 'line' },
      art(item.sku),
      element('div', {}, element('b', {}, item.name), element('span', {}, `${money(item.cents)} each`)),
      stepper(item),
      element('div', { className: 'amount' }, money(item.cents * item.quantity)),
      element('button', { type: 'button', className: 'cross', title: 'Remove', aria: { label: 'Remove' }, onclick: () => change(item.sku, 0) }, '×'));
  }

  function say(text, bad) {
    note.textContent = text;
    note.classList.toggle('bad', Boolean(bad));
  }

  function render() {
    const state = load();
    const items = lines(state);
    if (state.coupon && couponProblem(state.coupon, state)) {
      say(`${state.coupon} was removed: ${couponProblem(state.coupon, state)}`, true);
      state.coupon = '';
      save(state);
    }
    document.getElementById('lines').replaceChildren(...items.map(line));
    document.getElementById('full').hidden = items.length === 0;
    document.getElementById('empty').hidden = items.length > 0;
    showSum(document.getElementById('sum'), sumRows(totals(state), state.coupon));
    showCount();
  }

  function apply(event) {
    event.preventDefault();
    const state = load();
    const typed = code.value.trim().toUpperCase();
    const problem = couponProblem(typed, state);
    if (problem) {
      window.tracker.track('coupon_refused', { code: typed in window.goods.COUPONS ? typed : 'unknown' });
      return say(problem, true);
    }
    state.coupon = typed;
    save(state);
    window.tracker.track('coupon_applied', { code: typed });
    code.value = '';
    render();
    return say(`${typed}: ${window.goods.COUPONS[typed].note}.`);
  }

  document.getElementById('coupon-form').addEventListener('submit', apply);
  window.addEventListener('pageshow', render);
})();
