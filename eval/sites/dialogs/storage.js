// Storage: the place of a box comes from the finder window; disposal asks three questions.
(function () {
  'use strict';

  const { load, save, chance, element, say, dialogs, answered } = window.archive;
  const list = document.getElementById('boxes');
  const pane = document.getElementById('record');

  let state = load();
  let currentId = '';
  let found = null;

  const box = (id) => state.boxes.find((one) => one.id === id);

  function place(item) {
    if (item.disposed) return 'On the disposal list';
    return item.place ? `${item.room}, ${item.place}` : 'No place yet';
  }

  function renderList() {
    list.replaceChildren(...state.boxes.map((item) => element('li', {},
      element('button', { type: 'button', aria: { pressed: item.id === currentId }, onclick: () => open(item.id) },
        element('b', {}, `${item.id} ${item.title}`), element('span', {}, place(item))))));
  }

  function renderRecord() {
    const item = box(currentId);
    document.getElementById('box-title').textContent = `${item.id} ${item.title}`;
    document.getElementById('box-place').textContent = place(item);
    document.getElementById('box-scans').textContent = item.scans ? `${item.scans} scans` : 'None';
    document.getElementById('box-new').textContent = found ? `${found.room}, ${found.place} (not saved yet)` : '–';
    document.getElementById('save-place').disabled = !found;
    document.getElementById('find').disabled = item.disposed;
    document.getElementById('dispose').disabled = item.disposed;
    document.getElementById('blocked').hidden = true;
    pane.hidden = false;
    document.getElementById('hint').hidden = true;
  }

  function open(id) {
    state = load();
    currentId = id;
    found = null;
    renderList();
    renderRecord();
    say('');
  }

  function openFinder() {
    const address = `finder.html?box=${currentId}`;
    const finder = window.open(address, 'finder', 'popup,width=760,height=560');
    if (finder) return finder.focus();
    document.getElementById('blocked-link').href = address;
    document.getElementById('blocked').hidden = false;
    return undefined;
  }

  function receive(event) {
    const report = event.data;
    if (event.origin !== location.origin || event.source === window || !report || report.type !== 'place') return;
    if (report.itemId !== currentId) return;
    found = { room: report.room, place: report.place, rank: report.rank };
    window.tracker.track('popup_report', { kind: 'place', itemId: currentId, ...found });
    renderRecord();
    say('The finder reported a place. Save it to keep it.');
  }

  function savePlace() {
    state = load();
    Object.assign(box(currentId), { room: found.room, place: found.place });
    save(state);
    window.tracker.track('place_saved', { itemId: currentId, ...found });
    say(`${currentId} is now at ${found.place}.`);
    found = null;
    renderList();
    renderRecord();
  }

  /** Each attempt has a reference of its own, shown by the second question and asked for by the third. */
  function nextReference(item) {
    state = load();
    state.attempts += 1;
    save(state);
    return `DR-${3000 + Math.floor(chance(`${item.id} ${state.attempts}`) * 6000)}`;
  }

  function dispose() {
    const item = box(currentId);
    const started = dialogs.confirm(`Dispose of box ${item.id} “${item.title}”?\n\nIt goes to the disposal list and its place becomes free.`);
    answered('confirm', 'dispose', item.id, started);
    if (!started) return say(`${item.id} was kept.`);
    const reference = nextReference(item);
    const scans = dialogs.confirm(`There are scans of ${item.id}: ${item.scans || 'none'}. Delete the scans too?\n\nOK deletes them, Cancel keeps them.\nDisposal reference: ${reference}`);
    answered('confirm', 'scans', item.id, scans);
    const typed = dialogs.prompt(`Type the disposal reference of ${item.id} to go ahead.`);
    const value = typed === null ? '' : typed.trim();
    const correct = value.toUpperCase() === reference;
    answered('prompt', 'reference', item.id, typed !== null, { value, correct });
    if (typed === null) return say(`${item.id} was kept.`);
    if (!correct) return say('The reference does not match. Nothing was changed.', true);
    return finish(item.id, scans);
  }

  function finish(id, scansDeleted) {
    state = load();
    const item = box(id);
    Object.assign(item, { disposed: true, place: '', room: '', scans: scansDeleted ? 0 : item.scans });
    save(state);
    window.tracker.track('box_disposed', {
      itemId: id,
      scans: scansDeleted ? 'deleted' : 'kept',
      disposedTotal: state.boxes.filter((one) => one.disposed).length,
    });
    renderList();
    renderRecord();
    return say(`${id} is on the disposal list. Its scans were ${scansDeleted ? 'deleted' : 'kept'}.`);
  }

  document.getElementById('find').addEventListener('click', openFinder);
  document.getElementById('save-place').addEventListener('click', savePlace);
  document.getElementById('dispose').addEventListener('click', dispose);
  window.addEventListener('message', receive);
  renderList();
})();
