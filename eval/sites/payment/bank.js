// The bank's frame: asks for the code that was sent as a message.
(function () {
  'use strict';

  const { a, code, listen, framed } = window.frameTalk;
  if (!framed) return;

  const MOST_ERRORS = 3;
  const SLOW_CARD = '4444';

  const form = document.getElementById('form');
  const field = document.getElementById('code');
  const error = document.getElementById('error');
  const toShop = (message) => window.parent.postMessage(message, a);

  let payment = null;
  let sent = 0;
  let errors = 0;

  const current = () => code(`bank ${payment.number} ${sent}`);

  function send() {
    sent += 1;
    error.textContent = '';
    document.getElementById('told').textContent = sent > 1 ? 'A new code is on its way.' : 'We have sent a code of six digits to your phone.';
    window.tracker.track('bank_code_sent', { last4: payment.last4, sent });
    toShop({ type: 'code', text: `${current()} is your code for the payment of ${payment.amount} to Brindlewick.` });
  }

  function refuse(reason, text) {
    window.tracker.track('bank_code_refused', { last4: payment.last4, reason });
    error.textContent = text;
    field.value = '';
    field.focus();
  }

  function confirm(event) {
    event.preventDefault();
    const typed = field.value.replace(/\D/g, '');
    if (typed.length !== 6) return refuse('incomplete', 'Enter the six digits of the code.');
    if (typed !== current()) {
      errors += 1;
      if (errors < MOST_ERRORS) return refuse('wrong', `This is not the code we sent last. Tries left: ${MOST_ERRORS - errors}.`);
      window.tracker.track('bank_code_refused', { last4: payment.last4, reason: 'stopped' });
      return toShop({ type: 'stopped' });
    }
    if (payment.last4 === SLOW_CARD && sent === 1) return refuse('expired', 'This code has expired. Ask for a new one.');
    window.tracker.track('bank_code_confirmed', { last4: payment.last4, renewed: sent > 1 });
    return toShop({ type: 'confirmed', last4: payment.last4 });
  }

  listen(a, () => window.parent, (message) => {
    if (message.type !== 'payment' || payment) return;
    payment = message;
    document.getElementById('what').textContent = `Payment of ${payment.amount} to Brindlewick, card ending ${payment.last4}`;
    send();
  });
  form.addEventListener('submit', confirm);
  document.getElementById('again').addEventListener('click', send);
  toShop({ type: 'ready' });
})();
