// Clippings: sixty cards, half of which come when the list is scrolled to its end. Some are about the ferry; the others look like it.
(function () {
  'use strict';

  const { chance, element, say, dialogs, answered } = window.archive;
  const KEY = 'stackhollow-clippings';
  const FERRY = ['Ferry Maud back in service', 'Night ferry to run until October', 'Council buys second-hand ferry', 'Ferry fares rise by a tenth', 'Fog keeps the ferry in harbour', 'Schoolchildren name the new ferry', 'Ferry crew rescues canoeist', 'Winter timetable of the ferry', 'Ferry landing to be dredged', 'Old ferry bell finds a home', 'Strike on the ferry called off', 'Ferry carries its millionth guest', 'Ramp trouble delays the ferry', 'Museum shows ferry posters', 'Ferry café opens under new cook', 'Ice on the sound: ferry stays', 'Ferry pier gets a shelter', 'Bicycles ride free on the ferry', 'Two ferry captains retire', 'Ferry link marks sixty years', 'Lost on the ferry: one tuba', 'Ferry engine overhauled in spring', 'Evening ferry for the fair'];
  const OTHER = ['Fairy lights along the quay', 'Ferris wheel at the harbour fair', 'Lighthouse lamp replaced', 'Fish market roof repaired', 'Harbour lease signed at last', 'Volunteers ferrying sand bags praised', 'Minutes of the harbour board lost', 'Rowing club wins the regatta', 'Crane moves to the north quay', 'Storm takes two beach huts', 'Map room closed at the weekend', 'Seals counted on the bank', 'Customs house for sale', 'Pilot boat gets new paint', 'Smokehouse wins a medal', 'Breakwater longer by thirty metres', 'Net makers hold open day', 'Tide mill turns again', 'Wharf cats find a patron', 'Buoy drifts to the beach', 'Harbour master keeps bees', 'Lifeboat raffle sold out', 'Oyster beds opened', 'New steps at the bathing place', 'Shipyard takes apprentices', 'Salt store becomes a hall', 'Herring weighs less this year', 'Signal mast listed', 'Coal shed makes way', 'Boat train runs no more', 'Gulls steal the mayor\'s lunch', 'Anchor found in the marsh', 'Painter lets his easel stand', 'Cannery whistle silent', 'Dock gates sixty years old', 'Fog horn tested at noon', 'Chandler closes after a century'];
  const PART = 30;

  const all = [...FERRY, ...OTHER]
    .map((title, at) => ({ id: 'C-' + (201 + at), title, wanted: at < FERRY.length }))
    .sort((one, two) => chance('clipping ' + one.id) - chance('clipping ' + two.id));
  let shown = 0;

  const filed = () => new Map(JSON.parse(localStorage.getItem(KEY) || '[]'));
  const list = document.getElementById('cards');
  const count = () => [...filed().values()].filter((presses) => presses % 2 === 1).length;

  function toggle(item, button) {
    const state = filed();
    state.set(item.id, (state.get(item.id) || 0) + 1);
    localStorage.setItem(KEY, JSON.stringify([...state]));
    const isFiled = state.get(item.id) % 2 === 1;
    button.setAttribute('aria-pressed', String(isFiled));
    button.textContent = isFiled ? 'Filed' : 'File';
    const now = all.filter((one) => (state.get(one.id) || 0) % 2 === 1);
    window.tracker.track('clippings_state', {
      filed: now.length,
      right: now.filter((one) => one.wanted).length,
      wrong: now.filter((one) => !one.wanted).length,
      twice: [...state.values()].filter((presses) => presses > 1).length,
    });
    number();
  }

  function card(item) {
    const presses = filed().get(item.id) || 0;
    const button = element('button', { type: 'button', className: 'file-button', onclick: () => toggle(item, button), aria: { pressed: String(presses % 2 === 1) } }, presses % 2 === 1 ? 'Filed' : 'File');
    return element('li', { className: 'clipping' }, element('h2', {}, item.title), element('span', {}, item.id), button);
  }

  function number() {
    document.getElementById('count').textContent = `${count()} of ${all.length} clippings filed`;
  }

  function more() {
    list.append(...all.slice(shown, shown + PART).map(card));
    shown = Math.min(shown + PART, all.length);
  }

  document.getElementById('export').onclick = () => {
    const number = count();
    const accepted = dialogs.confirm(`Export ${number} clippings as a file?`);
    answered('confirm', 'export', 'clippings', accepted, { number });
    if (!accepted) return say('Nothing was exported.');
    const lines = all.filter((one) => (filed().get(one.id) || 0) % 2 === 1).map((one) => `${one.id};${one.title}`);
    const link = element('a', { href: URL.createObjectURL(new Blob([lines.join('\n')], { type: 'text/csv' })), download: 'clippings.csv' });
    link.click();
    window.tracker.track('clippings_export', { number });
    return say(`${number} clippings were exported.`);
  };

  more();
  number();
  new IntersectionObserver((seen) => {
    if (seen[0].isIntersecting && shown < all.length) setTimeout(more, 150);
  }).observe(document.getElementById('status'));
})();
