// Documents: rename and delete, both by the browser's own dialogs.
(function () {
  'use strict';

  const { load, save, chance, element, icon, say, dialogs, answered } = window.archive;
  const SIGNED = ['D-103', 'D-109'];
  const heldId = SIGNED[chance('hold') < 0.5 ? 0 : 1];
  let state = load();

  const rows = document.getElementById('rows');
  const search = document.getElementById('search');

  function action(name, label, act) {
    return element('button', { type: 'button', className: 'icon ' + name, title: label, aria: { label }, onclick: act },
      icon(name === 'delete' ? 'bin' : 'pen'));
  }

  function row(item) {
    return element('tr', {},
      element('td', {}, element('span', { className: 'doc' }, icon('page'), item.title)),
      element('td', { className: 'num' }, item.reference),
      element('td', { className: 'opt' }, item.collection),
      element('td', { className: 'day opt' }, item.added),
      element('td', { className: 'num opt' }, item.size),
      element('td', { className: 'acts' },
        action('rename', 'Rename', () => rename(item.id)),
        action('delete', 'Delete', () => remove(item.id))));
  }

  function render() {
    const words = search.value.trim().toLowerCase();
    const shown = state.documents.filter((item) => `${item.title} ${item.collection} ${item.reference}`.toLowerCase().includes(words));
    rows.replaceChildren(...shown.map(row));
    document.getElementById('none').hidden = shown.length > 0;
    document.getElementById('count').textContent = `${state.documents.length} documents in ${new Set(state.documents.map((item) => item.collection)).size} collections`;
  }

  function question(item) {
    const first = `Delete “${item.title}” (${item.reference})?`;
    if (item.id === heldId) return `${first}\n\nThis copy is on legal hold until the boundary case is settled.`;
    return `${first}\n\nThis copy is not on hold. It cannot be restored.`;
  }

  function remove(id) {
    const item = state.documents.find((one) => one.id === id);
    const { title } = item;
    const onHold = id === heldId;
    const accepted = dialogs.confirm(question(item));
    answered('confirm', 'delete', id, accepted, { title, onHold });
    if (!accepted) return say(`“${title}” (${item.reference}) was kept.`);
    state = load();
    state.documents = state.documents.filter((one) => one.id !== id);
    state.deleted = (state.deleted || 0) + 1;
    save(state);
    window.tracker.track('item_deleted', { itemId: id, title, onHold, deletedTotal: state.deleted });
    render();
    return say(`“${title}” (${item.reference}) was deleted.`);
  }

  function rename(id) {
    const item = state.documents.find((one) => one.id === id);
    const typed = dialogs.prompt(`New title of “${item.title}” (${item.reference})`, item.title);
    const title = typed === null ? '' : typed.trim();
    answered('prompt', 'rename', id, typed !== null, { value: title });
    if (typed === null) return say(`“${item.title}” keeps its title.`);
    if (!title) return say('A title cannot be empty.', true);
    if (title === item.title) return say(`“${title}” keeps its title.`);
    state = load();
    const stored = state.documents.find((one) => one.id === id);
    const previousTitle = stored.title;
    stored.title = title;
    save(state);
    window.tracker.track('item_renamed', { itemId: id, title, previousTitle });
    render();
    return say(`“${previousTitle}” is now “${title}”.`);
  }

  /** Tells that a visitor has come here from a draft that was saved. */
  function arrive() {
    state = load();
    render();
    const left = sessionStorage.getItem('stackhollow-left');
    if (!left) return;
    sessionStorage.removeItem('stackhollow-left');
    window.tracker.track('documents_opened', JSON.parse(left));
  }

  search.addEventListener('input', render);
  window.addEventListener('pageshow', arrive);
})();
