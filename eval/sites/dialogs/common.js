// State of the archive, kept in this browser, and what all pages share.
(function () {
  'use strict';

  const KEY = 'stackhollow';

  const DOCUMENTS = [
    ['D-101', 'Minutes of the harbour board, spring', 'Harbour board', '12 Mar', '1.4 MB', '117/2'],
    ['D-102', 'Scan 0421', 'Unsorted scans', '14 Mar', '3.8 MB', '130/1'],
    ['D-103', 'Harbour lease, signed copy', 'Leases', '18 Mar', '620 KB', '118/4'],
    ['D-104', 'Letters of the harbour master', 'Harbour board', '21 Mar', '2.2 MB', '117/5'],
    ['D-105', 'Ferry timetable, winter', 'Ferries', '2 Apr', '410 KB', '121/1'],
    ['D-106', 'Scan 0412', 'Unsorted scans', '2 Apr', '3.6 MB', '130/2'],
    ['D-107', 'Harbour lease, unsigned draft', 'Leases', '9 Apr', '598 KB', '118/8'],
    ['D-108', 'Lighthouse keeper’s diary', 'Lighthouse', '11 Apr', '5.1 MB', '124/3'],
    ['D-109', 'Harbour lease, signed copy', 'Leases', '23 Apr', '620 KB', '118/9'],
    ['D-110', 'Scan 0413', 'Unsorted scans', '24 Apr', '3.7 MB', '130/3'],
    ['D-111', 'Plan of the old fish market', 'Maps and plans', '6 May', '7.9 MB', '126/7'],
    ['D-112', 'Crew list of the ferry Maud', 'Ferries', '13 May', '330 KB', '121/6'],
  ];

  const DRAFTS = [
    ['opening-hours', 'Opening hours, summer', 'From June the archive is open on Saturdays as well, from ten to two. The map room stays closed at the weekend.'],
    ['reading-room-notice', 'Reading room notice', 'Please order boxes one day ahead. Pencils only. Bags and coats stay in the lockers by the door.'],
    ['loan-letter', 'Loan letter, museum', 'We are glad to lend the plan of the old fish market for your exhibition, under the usual terms.'],
  ];

  const BOXES = [
    ['BX-188', 'Harbour board, minutes', 'Main hall', 'A-11', 212],
    ['BX-204', 'Ferry timetables, duplicates', 'Main hall', 'A-19', 38],
    ['BX-240', 'Ferry tickets and posters', 'Map room', 'B-06', 96],
    ['BX-304', 'Ferry timetables, first prints', 'Main hall', 'A-27', 41],
    ['BX-317', 'Glass negatives, lighthouse', '', '', 0],
    ['BX-371', 'Glass negatives, fish market', 'Cold store', 'C-02', 54],
  ];

  const fresh = () => ({
    documents: DOCUMENTS.map(([id, title, collection, added, size, reference]) => ({ id, title, collection, added, size, reference })),
    drafts: DRAFTS.map(([id, title, text]) => ({ id, title, text, original: text })),
    boxes: BOXES.map(([id, title, room, place, scans]) => ({ id, title, room, place, scans, disposed: false })),
    attempts: 0,
  });

  function load() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) || fresh();
    } catch {
      return fresh();
    }
  }

  const save = (state) => localStorage.setItem(KEY, JSON.stringify(state));

  /** A number from 0 to 1 that depends on the run's seed and a name only. */
  function chance(name) {
    let hash = (window.evalRun.seed ^ 0x9e3779b9) >>> 0;
    for (const letter of String(name)) {
      hash = Math.imul(hash ^ letter.codePointAt(0), 0x85ebca6b);
      hash ^= hash >>> 13;
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
    return ((hash ^ (hash >>> 15)) >>> 0) / 4294967296;
  }

  function element(tag, properties, ...children) {
    const { dataset, aria, ...rest } = properties || {};
    const node = Object.assign(document.createElement(tag), rest);
    Object.assign(node.dataset, dataset);
    for (const [name, value] of Object.entries(aria || {})) node.setAttribute('aria-' + name, value);
    node.append(...children);
    return node;
  }

  const icons = {
    page: '<path d="M4 1.5h6l3 3v10H4z"/><path d="M10 1.5v3h3M6.5 8h4M6.5 11h4"/>',
    pen: '<path d="M2.5 13.5l.8-3.2L10.6 3 13 5.4l-7.4 7.4z"/><path d="M9 4.6 11.4 7"/>',
    bin: '<path d="M2.5 4h11M6 4V2.3h4V4M4 4l.7 9.8h6.6L12 4M6.7 6.7v4.6M9.3 6.7v4.6"/>',
  };

  function icon(name) {
    const box = document.createElement('span');
    box.innerHTML = `<svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.3" stroke-linejoin="round" aria-hidden="true">${icons[name]}</svg>`;
    return box.firstChild;
  }

  function say(text, bad) {
    const line = document.getElementById('status');
    line.textContent = text;
    line.classList.toggle('bad', Boolean(bad));
  }

  const dialogs = {
    confirm: window.confirm.bind(window),
    prompt: window.prompt.bind(window),
    alert: window.alert.bind(window),
  };

  function answered(kind, step, itemId, accepted, more) {
    window.tracker.track('dialog_answer', { kind, step, itemId, accepted, ...more });
  }

  window.archive = Object.freeze({ load, save, chance, element, icon, say, dialogs, answered });
})();
