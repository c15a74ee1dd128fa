// Checkout: delivery, card frame, bank frame, order.
(function () {
  'use strict';

  const { load, save, money, lines, totals, element, showCount, showSum, sumRows } = window.shop;
  const { b, code, listen, mask } = window.frameTalk;
  const at = (id) => document.getElementById(id);

  const FIRST_DAY = 1;
  const LAST_DAY = 14;
  const NO_LOCKER = { id: '', name: '' };

  let locker = NO_LOCKER;
  let paying = false;
  let payments = 0;
  let pending = null;

  const pickup = () => at('by-locker').checked;
  const wrap = () => at('wrap').checked;

  function day(offset) {
    const date = new Date(`${window.evalRun.today}T12:00:00Z`);
    date.setUTCDate(date.getUTCDate() + offset);
    return date.toISOString().slice(0, 10);
  }

  function render() {
    const state = load();
    const sum = totals(state, { pickup: pickup(), wrap: wrap() });
    const empty = lines(state).length === 0;
    showSum(at('sum'), sumRows(sum, state.coupon));
    at('items').replaceChildren(...lines(state).map((one) => element('li', {}, `${one.quantity} × ${one.name}`)));
    at('pay').textContent = paying ? 'One moment …' : `Pay ${money(sum.total)}`;
    at('pay').disabled = paying || empty;
    at('address').hidden = pickup();
    at('locker').hidden = !pickup();
    at('locker-name').textContent = locker.name ? `Selected: ${locker.name}` : 'No locker selected';
    at('gift').hidden = !wrap();
    at('form').hidden = empty;
    at('empty').hidden = !empty;
    return sum;
  }

  function message(sender, text) {
    at('messages').prepend(element('li', {}, element('b', {}, sender), text));
  }

  function say(text, bad) {
    at('note').textContent = text;
    at('note').classList.toggle('bad', Boolean(bad));
  }

  function dateProblem() {
    const { value } = at('date');
    if (!value) return 'Choose a delivery date.';
    return value < day(FIRST_DAY) || value > day(LAST_DAY) ? `Choose a day from ${day(FIRST_DAY)} to ${day(LAST_DAY)}.` : '';
  }

  function deliveryProblem() {
    const text = dateProblem();
    at('date').setAttribute('aria-invalid', String(Boolean(text)));
    at('date-note').textContent = text;
    if (text) return text;
    return pickup() && !locker.id ? 'Select a parcel locker.' : '';
  }

  const payFrame = () => at('pay-frame').contentWindow;
  const bankFrame = () => at('bank-frame') && at('bank-frame').contentWindow;

  function pay() {
    if (paying) return;
    const problem = deliveryProblem();
    if (problem) return say(problem, true);
    paying = true;
    say('');
    render();
    return payFrame().postMessage({ type: 'pay' }, b);
  }

  function freeze(frozen) {
    at('delivery').disabled = frozen;
    at('card-box').hidden = frozen;
    at('pay').hidden = frozen;
    at('bank-box').hidden = !frozen;
  }

  function backToCard(text) {
    paying = false;
    at('bank-box').replaceChildren();
    freeze(false);
    render();
    say(text, true);
  }

  function openBank(last4) {
    payments += 1;
    const number = payments;
    const { total } = render();
    const frame = element('iframe', { id: 'bank-frame', title: 'Confirmation by your bank', src: `${b}/payment/bank.html` });
    at('bank-box').replaceChildren(element('h2', {}, 'Confirm with your bank'), frame);
    freeze(true);
    pending = { type: 'payment', number, last4, amount: money(total) };
  }

  function place(last4) {
    const state = load();
    const sum = totals(state, { pickup: pickup(), wrap: wrap() });
    const items = lines(state).map((one) => `${one.sku}:${one.quantity}`).sort().join(', ');
    state.orders += 1;
    window.tracker.track('order_placed', {
      items,
      coupon: state.coupon,
      delivery: pickup() ? locker.id : 'home',
      deliveryDate: at('date').value,
      giftWrap: wrap(),
      giftMessage: wrap() ? mask(at('gift-text').value.trim()) : '',
      totalCents: sum.total,
      last4,
      orders: state.orders,
    });
    Object.assign(state, { basket: {}, coupon: '' });
    save(state);
    showCount();
    at('form').hidden = true;
    at('done').hidden = false;
    at('done-text').textContent = `Order ${code(`order ${state.orders}`)} of ${money(sum.total)}, paid with the card ending ${last4}. Delivery on ${at('date').value}.`;
    window.scrollTo(0, 0);
  }

  const payMessages = {
    invalid: () => {
      paying = false;
      render();
      say('Check the card details.', true);
    },
    declined: ({ last4 }) => backToCard(`The card ending ${last4} was declined. Use another card.`),
    confirm: ({ last4 }) => openBank(last4),
  };

  const bankMessages = {
    ready: () => bankFrame().postMessage(pending, b),
    code: ({ text }) => message('Aldermoor Bank', text),
    stopped: () => backToCard('Your bank has stopped the payment. Pay again.'),
    confirmed: ({ last4 }) => place(last4),
  };

  const dispatch = (table) => (received) => {
    if (Object.hasOwn(table, received.type)) table[received.type](received);
  };

  function chooseLocker({ id, name }) {
    locker = { id, name };
    render();
    say('');
  }

  at('date').min = day(FIRST_DAY);
  at('date').max = day(LAST_DAY);
  at('date').addEventListener('change', () => {
    at('date-note').textContent = dateProblem();
  });
  for (const id of ['by-home', 'by-locker', 'wrap']) at(id).addEventListener('change', render);
  at('pay').addEventListener('click', pay);
  at('form').addEventListener('submit', (event) => event.preventDefault());
  listen(b, payFrame, dispatch(payMessages));
  listen(b, bankFrame, dispatch(bankMessages));
  listen(b, () => at('pickup-frame').contentWindow, dispatch({ locker: chooseLocker }));

  at('pay-frame').src = `${b}/payment/pay.html`;
  at('pickup-frame').src = `${b}/payment/pickup.html`;
  message('Pickline Parcels', `${code('pickline')} is your code for locker L-12. Your parcel is kept for two days.`);
  render();
})();
