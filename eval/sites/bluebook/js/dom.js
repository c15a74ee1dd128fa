// Small helpers to build elements.

export const byId = (id) => document.getElementById(id);

/** `el('button', {class: 'x', onclick: f, disabled: true}, 'text', child…)` */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'html') element.innerHTML = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function avatar(name) {
  const hue = [...name].reduce((sum, char) => (sum * 31 + char.codePointAt(0)) % 360, 7);
  return el('span', { class: 'avatar', style: `--hue: ${hue}`, 'aria-hidden': 'true' }, name[0]);
}

export const shortCount = (count) => (count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`);

let toastTimer = 0;
const toastBox = byId('toast');

/** Shows a short message; inside an open dialog, because everything else is inert then. */
export function toast(text) {
  (document.querySelector('dialog[open]') || document.body).append(toastBox);
  toastBox.textContent = text;
  toastBox.classList.add('is-visible');
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => toastBox.classList.remove('is-visible'), 2200);
}
