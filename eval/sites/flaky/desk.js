// Calls of the service, the state of this desk, and small helpers.
(function () {
  'use strict';

  const KEY = 'ropewalk';
  const fresh = () => ({ mine: [], foundClosed: [], tickets: {}, moves: [], answers: 0 });

  function load() {
    try {
      return { ...fresh(), ...JSON.parse(localStorage.getItem(KEY)) };
    } catch {
      return fresh();
    }
  }

  /** Reads the state, lets `change` modify it, and stores it. */
  function update(change) {
    const state = load();
    change(state);
    localStorage.setItem(KEY, JSON.stringify(state));
    return state;
  }

  /** A number from 0 to 1 that depends on the run's seed and a name only. */
  function chance(name) {
    let hash = (window.evalRun.seed ^ 0x27d4eb2f) >>> 0;
    for (const letter of String(name)) {
      hash = Math.imul(hash ^ letter.codePointAt(0), 0x85ebca6b);
      hash ^= hash >>> 13;
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
    return ((hash ^ (hash >>> 15)) >>> 0) / 4294967296;
  }

  async function call(name) {
    const answer = await fetch(`/flaky/api/${name}`, { cache: 'no-store' });
    if (!answer.ok) throw new Error('The service is busy. Try again.');
    return answer.json();
  }

  function element(tag, properties, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  window.desk = Object.freeze({ load, update, chance, call, element });
})();
