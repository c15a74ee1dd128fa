// The finder window: shows which places are free and reports the chosen one to the record that opened it.
(function () {
  'use strict';

  const { load, chance, element } = window.archive;
  const ROOMS = [
    { id: 'A', name: 'Main hall', climate: '19 °C, 45 % humidity' },
    { id: 'B', name: 'Map room', climate: '18 °C, 40 % humidity' },
    { id: 'C', name: 'Cold store', climate: '5 °C, 35 % humidity' },
  ];
  const PLACES = 32;
  const ALWAYS_TAKEN = 5;
  const ALWAYS_FREE = 29;

  const itemId = new URLSearchParams(location.search).get('box') || '';
  const used = new Set(load().boxes.map((box) => box.place));
  const tabs = document.getElementById('tabs');
  const places = document.getElementById('places');
  const use = document.getElementById('use');
  let room = ROOMS[0];
  let chosen = '';

  const name = (one, number) => `${one.id}-${String(number).padStart(2, '0')}`;
  const names = (one) => Array.from({ length: PLACES }, (_, index) => name(one, index + 1));
  function isFree(one) {
    const number = Number(one.slice(2));
    if (used.has(one) || number <= ALWAYS_TAKEN) return false;
    return number === ALWAYS_FREE || chance('place ' + one) < 0.3;
  }
  const freeOf = (one) => names(one).filter(isFree);

  function renderTabs() {
    tabs.replaceChildren(...ROOMS.map((one) => element('button', {
      type: 'button',
      role: 'tab',
      aria: { selected: one === room },
      onclick: () => {
        room = one;
        chosen = '';
        render();
      },
    }, one.name)));
  }

  function render() {
    renderTabs();
    document.getElementById('climate').textContent = `${room.name}: ${room.climate}`;
    places.replaceChildren(...names(room).map((one) => element('button', {
      type: 'button',
      disabled: !isFree(one),
      aria: { pressed: one === chosen },
      onclick: () => {
        chosen = one;
        render();
      },
    }, one)));
    use.disabled = !chosen;
    document.getElementById('chosen').textContent = chosen ? `Chosen: ${chosen}` : 'No place chosen';
  }

  function report() {
    if (!window.opener || window.opener.closed) {
      document.getElementById('chosen').textContent = 'The record that opened this window is gone.';
      return;
    }
    window.opener.postMessage({ type: 'place', itemId, room: room.name, place: chosen, rank: freeOf(room).indexOf(chosen) + 1 }, location.origin);
    window.close();
  }

  const title = document.getElementById('for');
  if (window.opener && itemId) {
    title.textContent = `For box ${itemId}`;
    use.addEventListener('click', report);
    render();
  } else {
    title.textContent = 'Open this window from the record of a box, by “Find a place”.';
    document.getElementById('plan').hidden = true;
  }
})();
