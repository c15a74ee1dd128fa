// One field of the card. What is typed stays in this frame; only the state of the field leaves it.
(function () {
  'use strict';

  const { b, listen, framed } = window.frameTalk;
  const FIELDS = {
    number: { label: 'Card number', digits: 16, placeholder: '0000 0000 0000 0000', autocomplete: 'cc-number' },
    expiry: { label: 'Expiry date, month and year', digits: 4, placeholder: 'MM / YY', autocomplete: 'cc-exp' },
    cvc: { label: 'Security code', digits: 3, placeholder: 'CVC', autocomplete: 'cc-csc' },
  };
  const name = new URLSearchParams(location.search).get('field');
  const field = FIELDS[name];
  if (!framed || !field) return;

  const input = document.getElementById('field');
  const { label, placeholder, autocomplete } = field;
  input.setAttribute('aria-label', label);
  Object.assign(input, { placeholder, autocomplete });

  const digits = () => input.value.replace(/\D/g, '').slice(0, field.digits);

  function format(text) {
    if (name === 'number') return text.replace(/(\d{4})(?=\d)/g, '$1 ');
    if (name === 'expiry' && text.length > 2) return `${text.slice(0, 2)} / ${text.slice(2)}`;
    return text;
  }

  function checksum(text) {
    return [...text].reverse().reduce((sum, digit, index) => {
      const value = Number(digit) * (index % 2 ? 2 : 1);
      return sum + (value > 9 ? value - 9 : value);
    }, 0) % 10 === 0;
  }

  function expiryProblem(text) {
    const month = Number(text.slice(0, 2));
    if (month < 1 || month > 12) return 'There is no such month.';
    const [year, now] = window.evalRun.today.split('-').map(Number);
    const distance = (Number(text.slice(2)) - year % 100) * 12 + month - now;
    if (distance < 0) return 'This card has expired.';
    return distance > 240 ? 'This year is too far away.' : '';
  }

  function problem(text) {
    if (!text) return `${label} is missing.`;
    if (text.length < field.digits) return `${label} is incomplete.`;
    if (name === 'number' && !checksum(text)) return 'This is not a valid card number.';
    return name === 'expiry' ? expiryProblem(text) : '';
  }

  function report() {
    const text = digits();
    const state = { type: 'field', name, problem: problem(text) };
    if (name === 'number') state.last4 = text.slice(-4);
    window.parent.postMessage(state, b);
  }

  function change() {
    const shown = format(digits());
    if (shown !== input.value) input.value = shown;
    report();
  }

  input.addEventListener('input', change);
  input.addEventListener('blur', () => window.parent.postMessage({ type: 'left', name }, b));
  listen(b, () => window.parent, (message) => {
    if (message.type === 'focus') input.focus();
  });
  report();
})();
