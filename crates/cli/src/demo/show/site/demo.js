// Opens a dialog, stores its return value, and lists both on the page.
const demo = { answers: [] };

demo.ask = (kind, message, preset) => {
  const value = kind === 'prompt' ? prompt(message, preset) : window[kind](message);
  demo.answers.push({ kind, type: typeof value, value });
  const line = document.createElement('li');
  for (const [tag, text] of [['b', kind], ['span', message], ['code', String(JSON.stringify(value))]]) {
    line.append(Object.assign(document.createElement(tag), { textContent: text }));
  }
  document.querySelector('ol').append(line);
};
