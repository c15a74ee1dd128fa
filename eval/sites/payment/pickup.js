// The parcel network's frame: lockers to choose from.
(function () {
  'use strict';

  const { a, framed } = window.frameTalk;
  if (!framed) return;

  const LOCKERS = [
    ['L-07', 'Quay Street 19', 'Open day and night, 350 m'],
    ['L-12', 'Orchard Lane 4', 'Open from 7 to 22, 600 m'],
    ['L-15', 'Quay Street 9', 'Open day and night, 800 m'],
    ['L-21', 'Station, east hall', 'Open from 5 to 24, 1.1 km'],
    ['L-30', 'Quay Road 9', 'Open from 7 to 20, 1.4 km'],
    ['L-34', 'Mill Yard 2', 'Open day and night, 1.9 km'],
  ];

  const list = document.getElementById('lockers');

  function choose(id, name) {
    render(id);
    window.tracker.track('pickup_selected', { lockerId: id, name });
    window.parent.postMessage({ type: 'locker', id, name }, a);
  }

  function row([id, name, hours], chosen) {
    const item = document.createElement('li');
    const text = document.createElement('div');
    const button = document.createElement('button');
    const title = document.createElement('b');
    title.textContent = name;
    const detail = document.createElement('span');
    detail.className = 'soft';
    detail.textContent = hours;
    text.append(title, detail);
    Object.assign(button, { type: 'button', className: 'pick', textContent: id === chosen ? 'Selected' : 'Select' });
    button.addEventListener('click', () => choose(id, name));
    item.classList.toggle('chosen', id === chosen);
    item.append(text, button);
    return item;
  }

  function render(chosen) {
    list.replaceChildren(...LOCKERS.map((locker) => row(locker, chosen)));
  }

  render('');
})();
