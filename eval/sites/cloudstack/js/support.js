/** CloudStack support centre: the ticket form. */
(function () {
  'use strict';
  const { find, toast } = window.cloud;
  const form = find('#ticket');

  function problem(data) {
    if (!data.get('topic')) return 'Choose a topic.';
    if (!/^\S+@\S+\.\S+$/.test(data.get('email'))) return 'Enter a valid e-mail address.';
    return data.get('text').trim().length < 10 ? 'Describe the problem in at least ten characters.' : '';
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const text = problem(data);
    find('.error', form).textContent = text;
    if (text) return;
    tracker.track('ticket_submit', { topic: data.get('topic'), textLength: data.get('text').trim().length });
    form.reset();
    toast('Ticket sent. We answer within an hour.');
  });
})();
