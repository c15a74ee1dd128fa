// Drafts: an editor that asks before unsaved text is lost.
(function () {
  'use strict';

  const { load, save, element, say, dialogs, answered } = window.archive;
  const STAYED_AFTER_MS = 500;

  const list = document.getElementById('drafts');
  const title = document.getElementById('title');
  const text = document.getElementById('text');
  const mark = document.getElementById('mark');
  const saveButton = document.getElementById('save');

  let state = load();
  let current = state.drafts[0];
  let asked = 0;
  let leaving = false;
  let savedHere = false;

  const unsaved = () => title.value !== current.title || text.value !== current.text;

  function renderList() {
    list.replaceChildren(...state.drafts.map((draft) => element('li', {},
      element('button', { type: 'button', aria: { pressed: draft.id === current.id }, onclick: () => choose(draft.id) },
        element('b', {}, draft.title), element('span', {}, `${draft.text.length} characters`)))));
  }

  function renderMark() {
    mark.textContent = unsaved() ? 'Unsaved changes' : 'All changes saved';
    mark.classList.toggle('ok', !unsaved());
    saveButton.disabled = !unsaved();
  }

  function show(draft) {
    current = draft;
    savedHere = false;
    title.value = draft.title;
    text.value = draft.text;
    renderList();
    renderMark();
  }

  function choose(id) {
    if (id === current.id) return;
    if (unsaved()) {
      const accepted = dialogs.confirm(`“${current.title}” has unsaved changes. Open another draft and lose them?`);
      answered('confirm', 'switch', current.id, accepted);
      if (!accepted) return;
    }
    show(state.drafts.find((draft) => draft.id === id));
    say('');
  }

  function store() {
    state = load();
    current = state.drafts.find((draft) => draft.id === current.id);
    current.title = title.value;
    current.text = text.value;
    save(state);
    savedHere = true;
    window.tracker.track('draft_saved', {
      itemId: current.id,
      value: current.text.slice(0, 1000),
      valueLength: current.text.length,
      originalKept: current.text.startsWith(current.original),
    });
    renderList();
    renderMark();
    say('The draft was saved.');
  }

  /** The question is over once the page goes on, or once the visitor does something here. */
  function stayed() {
    if (!asked) return;
    clearTimeout(asked);
    asked = 0;
    answered('beforeunload', 'leave', current.id, false);
    say('You are still here. The changes are not saved yet.');
  }

  window.addEventListener('beforeunload', (event) => {
    if (!unsaved() || !navigator.userActivation.hasBeenActive) return;
    event.preventDefault();
    leaving = true;
    clearTimeout(asked);
    asked = setTimeout(stayed, STAYED_AFTER_MS);
  });

  window.addEventListener('pagehide', () => {
    if (leaving && unsaved()) {
      clearTimeout(asked);
      asked = 0;
      answered('beforeunload', 'leave', current.id, true);
      window.tracker.flush();
    }
    if (savedHere && !unsaved()) {
      sessionStorage.setItem('stackhollow-left', JSON.stringify({ from: current.id, unsaved: false }));
    }
  });

  for (const type of ['pointerdown', 'keydown', 'input', 'click']) {
    document.addEventListener(type, (event) => {
      if (event.target instanceof Element && event.target.closest('nav')) return;
      stayed();
      leaving = false;
    }, true);
  }
  title.addEventListener('input', renderMark);
  text.addEventListener('input', renderMark);
  saveButton.addEventListener('click', store);
  show(current);
})();
