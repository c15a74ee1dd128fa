// The payment service's frame: three hosted fields, the name on the card, and the answer to the shop.
(function () {
  'use strict';

  const { a, b, mask, listen, framed } = window.frameTalk;
  if (!framed) return;

  const WORKING_MS = 700;
  const KNOWN = { 4242: 'confirm', 1111: 'decline', 4444: 'confirm' };
  const HOSTS = { number: a, expiry: b, cvc: b };
  const TITLES = { number: 'Secure card number', expiry: 'Secure expiry date', cvc: 'Secure security code' };

  const holder = document.getElementById('holder');
  const states = new Map();
  let working = false;

  const slot = (name) => document.getElementById(`slot-${name}`);
  const frame = (name) => slot(name).querySelector('iframe');
  const toShop = (message) => window.parent.postMessage(message, a);

  function showProblem(name, text) {
    document.getElementById(`error-${name}`).textContent = text;
    const box = name === 'holder' ? holder : slot(name);
    box.classList.toggle('bad', Boolean(text));
    if (name === 'holder') holder.setAttribute('aria-invalid', String(Boolean(text)));
  }

  function mount(name) {
    const inner = document.createElement('iframe');
    inner.title = TITLES[name];
    inner.src = `${HOSTS[name]}/payment/field.html?field=${name}`;
    states.set(name, { problem: 'The field is still loading.' });
    slot(name).replaceChildren(inner);
  }

  function receive(name, message) {
    if (message.type === 'left') {
      const { problem, last4 } = states.get(name);
      if (last4 !== '' && problem && !problem.endsWith('missing.')) showProblem(name, problem);
    } else if (message.type === 'field' && message.name === name) {
      states.set(name, message);
      if (!message.problem) showProblem(name, '');
    }
  }

  function problems() {
    const found = {};
    for (const name of Object.keys(HOSTS)) found[name] = states.get(name).problem;
    found.holder = holder.value.trim().length < 2 ? 'Name on card is missing.' : '';
    return found;
  }

  function pay() {
    if (working) return;
    const found = problems();
    for (const [name, text] of Object.entries(found)) showProblem(name, text);
    const bad = Object.keys(found).filter((name) => found[name]);
    if (bad.length > 0) {
      window.tracker.track('card_invalid', { fields: bad.join(', ') });
      toShop({ type: 'invalid' });
      return;
    }
    const { last4 } = states.get('number');
    working = true;
    window.tracker.track('card_submitted', { last4, holder: mask(holder.value.trim()) });
    setTimeout(() => answer(last4), WORKING_MS);
  }

  function answer(last4) {
    working = false;
    if (KNOWN[last4] === 'confirm') {
      toShop({ type: 'confirm', last4 });
      return;
    }
    window.tracker.track('card_declined', { last4 });
    Object.keys(HOSTS).forEach(mount);
    toShop({ type: 'declined', last4 });
  }

  for (const name of Object.keys(HOSTS)) {
    mount(name);
    listen(HOSTS[name], () => frame(name).contentWindow, (message) => receive(name, message));
  }
  holder.addEventListener('input', () => showProblem('holder', ''));
  listen(a, () => window.parent, (message) => {
    if (message.type === 'pay') pay();
  });
})();
