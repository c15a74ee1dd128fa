/** CloudStack DAS: the chat panel. A message can be sent when the one before has been answered. */
(function () {
  'use strict';
  const { find } = window.cloud;
  const ANSWER_MS = 800;
  const VALUE_MAX = 50;
  const { understand, answer, isGreeting } = window.dasAgent;

  const panel = find('#chat-panel');
  const input = find('#chat-input');
  const send = find('#send-btn');
  let turn = 0;
  let waiting = false;

  function toggle(open, source) {
    if (panel.hidden !== open) return;
    panel.hidden = !open;
    find('#das-agent-toggle').setAttribute('aria-expanded', String(open));
    if (open) input.focus();
    tracker.track('chat_toggle', { open, source });
  }

  function show(text, mine) {
    const line = document.createElement('p');
    line.className = mine ? 'mine' : '';
    line.textContent = text;
    find('#chat-messages').append(line);
    line.scrollIntoView({ block: 'end' });
  }

  function wait(on) {
    waiting = on;
    send.disabled = on;
    send.textContent = on ? 'Waiting…' : 'Send';
    find('#chat-state').textContent = on ? 'Thinking…' : 'Ready';
  }

  function sendMessage() {
    const text = input.value.trim();
    if (waiting || !text) return;
    turn += 1;
    const value = text.slice(0, VALUE_MAX);
    const meaning = understand(text);
    tracker.track('input', { elementId: 'chat-input', value, valueLength: text.length });
    tracker.track('chat_message', { turn, topic: meaning.topic, greeting: isGreeting(text), value, valueLength: text.length });
    show(text, true);
    input.value = '';
    wait(true);
    const number = turn;
    setTimeout(() => {
      show(answer(meaning), false);
      wait(false);
      tracker.track('chat_answer', { turn: number, topic: meaning.topic });
    }, ANSWER_MS);
  }

  find('#das-agent-toggle').addEventListener('click', () => toggle(panel.hidden, 'header'));
  find('#open-chat-btn').addEventListener('click', () => toggle(true, 'panel'));
  find('#chat-close').addEventListener('click', () => toggle(false, 'close'));
  send.addEventListener('click', sendMessage);
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    sendMessage();
  });
})();
