/** DataFlow: the tracker, small DOM helpers and what the browser remembers. */
(function () {
  'use strict';

  window.tracker = new AgentTracker('dataflow', 'medium');

  const KEY = 'dataflow.state';
  const find = (selector, root = document) => root.querySelector(selector);
  const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

  function build(html) {
    const template = document.createElement('template');
    template.innerHTML = html.trim();
    return template.content.firstElementChild;
  }

  function escape(text) {
    const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
    return String(text).replace(/[&<>"]/g, (sign) => names[sign]);
  }

  const svg = (shapes) => `<svg width="20" height="20" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`;

  function toast(text) {
    findAll('.toast').forEach((old) => old.remove());
    const box = build('<div class="toast" role="status"></div>');
    box.textContent = text;
    (find('dialog[open]') || document.body).append(box);
    setTimeout(() => box.remove(), 3000);
  }

  const FIRST = {
    settings: { emailNotifications: true, pushNotifications: false, weeklyReports: false },
    exports: [], pinned: [], archived: [], widgets: [],
  };

  function load() {
    try {
      return { ...FIRST, ...JSON.parse(localStorage.getItem(KEY)) };
    } catch {
      return { ...FIRST };
    }
  }

  const state = load();
  const save = () => localStorage.setItem(KEY, JSON.stringify(state));

  /** Date `days` from the day of the run, as YYYY-MM-DD. */
  function day(days) {
    const date = new Date(`${window.evalRun.today}T12:00:00Z`);
    date.setUTCDate(date.getUTCDate() + days);
    return date.toISOString().slice(0, 10);
  }

  window.flow = { find, findAll, build, escape, svg, toast, state, save, day };
})();
