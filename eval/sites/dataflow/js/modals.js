/** DataFlow: modal windows. */
(function () {
  'use strict';
  const { find, build, svg } = window.flow;

  function open(name, title, body, { big = false, data = {} } = {}) {
    const dialog = build(`<dialog class="${big ? 'big' : ''}" aria-labelledby="modal-title">
      <div class="dialog-head"><h2 id="modal-title"></h2><button type="button" class="icon" data-close aria-label="Close">${svg('<path d="M6 6l12 12M18 6L6 18"/>')}</button></div>
      <div class="dialog-body">${body}</div></dialog>`);
    find('#modal-title', dialog).textContent = title;
    const close = (method) => {
      if (!dialog.isConnected) return;
      dialog.close();
      dialog.remove();
      tracker.track('modal_close', { modal: name, method });
    };
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) close('backdrop');
      else if (event.target.closest('[data-close]')) close('button');
    });
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      close('escape');
    });
    document.body.append(dialog);
    dialog.showModal();
    tracker.track('modal_open', { modal: name, ...data });
    return { dialog, close };
  }

  window.flowModal = open;
})();
