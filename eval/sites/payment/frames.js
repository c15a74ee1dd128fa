// Messages between the shop, the payment service and the bank, and the codes of this run.
(function () {
  'use strict';

  const { a, b, seed } = window.evalRun;

  function chance(name) {
    let hash = (seed ^ 0x51ed270b) >>> 0;
    for (const letter of name) {
      hash = Math.imul(hash ^ letter.codePointAt(0), 0x85ebca6b);
      hash ^= hash >>> 13;
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
    return ((hash ^ (hash >>> 15)) >>> 0) / 4294967296;
  }

  /** Six digits, different for each code that is sent. */
  const code = (name) => String(100000 + Math.floor(chance(name) * 900000));

  /** Leaves only the last four digits of anything like a card number. */
  const mask = (text) => text.replace(/\d[\d -]{7,}(?=\d{4})/g, '…');

  /** Calls `act` for messages that come from `source()` and `origin` only. */
  function listen(origin, source, act) {
    window.addEventListener('message', (event) => {
      if (event.origin === origin && event.source === source() && event.data && typeof event.data.type === 'string') act(event.data);
    });
  }

  const framed = window.parent !== window;
  if (!framed && document.body.dataset.framed !== undefined) {
    document.body.innerHTML = '<p class="alone">This page belongs to a checkout. Open it from the shop.</p>';
  }

  window.frameTalk = Object.freeze({ a, b, code, mask, listen, framed });
})();
