// Pages without a library: patterns of web applications that are hard for tools.

import { button, check, click, css, fill, hover, press, role, scroll, text, type, uncheck, waitFor } from '../steps.mjs';

const noted = (what) => `log.includes(${JSON.stringify(what)})`;

export const pages = [
  {
    name: 'Endless animation',
    html: '<button id="go" onclick="log.push(\'go\')">Go</button><div id="box" style="width:20px;height:20px;background:red"></div>',
    js: `let turn = 0; const box = document.getElementById('box');
      const step = () => { turn += 1; box.style.transform = 'translateX(' + (turn % 200) + 'px)'; box.textContent = turn; requestAnimationFrame(step); };
      step();`,
    tasks: [{ name: 'click beside it', steps: [click(button('Go')), click(button('Go'))], judge: 'log.length === 2' }],
  },
  {
    name: 'Polling with fetch',
    html: '<button onclick="log.push(\'go\')">Go</button><input aria-label="Name"><p id="count"></p>',
    js: `let polls = 0; setInterval(async () => { await fetch('/echo'); polls += 1; count.textContent = polls; }, 200);`,
    tasks: [
      { name: 'click', steps: [click(button('Go'))], judge: noted('go') },
      { name: 'fill', steps: [fill(role('textbox', 'Name'), 'Ada')], judge: "document.querySelector('input').value === 'Ada'" },
    ],
  },
  {
    name: 'mouseenter replaces the button',
    html: '<div id="at"><button id="one">Reveal</button></div>',
    js: `const other = document.createElement('button'); other.textContent = 'Delete'; other.onclick = () => log.push('delete');
      one.onclick = () => log.push('one');
      one.addEventListener('mouseenter', () => one.replaceWith(other));`,
    tasks: [
      { name: 'hover, then click the other', steps: [hover(button('Reveal')), click(button('Delete'))], judge: "log.join() === 'delete'" },
    ],
  },
  {
    name: 'Slotted button',
    html: '<x-button id="x">Send</x-button>',
    js: `customElements.define('x-button', class extends HTMLElement {
        constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<button><span><slot></slot></span></button>'; }
      });
      x.addEventListener('click', () => log.push('send'));`,
    tasks: [{ name: 'click', steps: [click(button('Send'))], judge: "log.join() === 'send'" }],
  },
  {
    name: 'Listener only',
    html: `<ul><li>Row one</li></ul><p>Some paragraph</p><img alt="Logo" width="40" height="40"
      src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='40' height='40'/%3E">
      <svg width="40" height="40" role="img" aria-label="Star"><circle cx="20" cy="20" r="20"/></svg>
      <svg id="bare" width="40" height="40"><circle cx="20" cy="20" r="20"/></svg>
      <p>Call <code>run()</code> now</p><table><tbody><tr><td>Cell A</td><td>Cell B</td></tr></tbody></table>
      <div><span>Plain span</span></div>`,
    js: `for (const part of document.querySelectorAll('li, body > p, img, svg, code, td, span'))
        part.addEventListener('click', (event) => { event.stopPropagation(); log.push(part.id || part.textContent.trim() || part.alt || part.getAttribute('aria-label')); });`,
    tasks: [
      { name: 'list item', steps: [click(text('Row one'))], judge: noted('Row one') },
      { name: 'paragraph', steps: [click(text('Some paragraph'))], judge: noted('Some paragraph') },
      { name: 'image', steps: [click(role('img', 'Logo'))], judge: noted('Logo') },
      { name: 'svg with a name', steps: [click(role('img', 'Star'))], judge: noted('Star') },
      { name: 'svg without a name', steps: [click(css('#bare'))], judge: noted('bare') },
      { name: 'code', steps: [click(text('run()'))], judge: noted('run()') },
      { name: 'cell', steps: [click(text('Cell B'))], judge: noted('Cell B') },
      { name: 'span', steps: [click(text('Plain span'))], judge: noted('Plain span') },
    ],
  },
  {
    name: 'Hidden checkbox with a label',
    style: `.hide { position: absolute; opacity: 0; width: 0; height: 0; } .none { display: none; }
      .box { display: inline-block; width: 20px; height: 20px; border: 1px solid; } input:checked + .box { background: green; }
      .clip { position: absolute; clip: rect(0 0 0 0); width: 1px; height: 1px; overflow: hidden; }`,
    html: `<p><label><input id="a" type="checkbox" class="hide"><span class="box"></span>Terms</label></p>
      <p><input id="b" type="checkbox" class="none"><label for="b">News</label></p>
      <p><label><input id="c" type="radio" name="r" class="clip"><span class="box"></span>Small</label>
      <label><input id="d" type="radio" name="r" class="clip"><span class="box"></span>Large</label></p>`,
    tasks: [
      { name: 'click the label', steps: [click(text('Terms'))], judge: 'a.checked' },
      { name: 'click the label of a checkbox without a box', steps: [click(text('News'))], judge: 'b.checked' },
      { name: 'check a radio button', steps: [click(text('Large'))], judge: 'd.checked' },
      { name: 'check by the role', steps: [check(role('radio', 'Small'))], judge: 'c.checked' },
    ],
  },
  {
    name: 'Scroll snap carousel',
    style: `#strip { display: flex; overflow-x: auto; scroll-snap-type: x mandatory; width: 400px; scroll-behavior: smooth; }
      #strip > div { flex: 0 0 400px; height: 200px; scroll-snap-align: start; }`,
    html: `<div id="strip">${[1, 2, 3, 4, 5].map((n) => `<div><h2>Slide ${n}</h2><button onclick="log.push(${n})">Buy ${n}</button></div>`).join('')}</div>`,
    tasks: [
      { name: 'click in the fourth slide', steps: [click(button('Buy 4'))], judge: "log.join() === '4'" },
      { name: 'fourth, then second', steps: [click(button('Buy 4')), click(button('Buy 2'))], judge: "log.join() === '4,2'" },
    ],
  },
  {
    name: 'Image map',
    html: `<img alt="Plan" usemap="#plan" width="300" height="200"
      src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='300' height='200'%3E%3Crect width='300' height='200' fill='gray'/%3E%3C/svg%3E">
      <map name="plan"><area shape="poly" coords="10,10,140,10,140,190,120,190,120,30,10,30" href="#kitchen" alt="Kitchen" onclick="log.push('kitchen')">
      <area shape="rect" coords="160,10,290,190" href="#hall" alt="Hall" onclick="log.push('hall')">
      <area shape="circle" coords="60,120,30" href="#bath" alt="Bath" onclick="log.push('bath')"></map>`,
    tasks: [
      { name: 'rectangle', steps: [click(role('link', 'Hall'))], judge: "log.join() === 'hall'" },
      { name: 'circle', steps: [click(role('link', 'Bath'))], judge: "log.join() === 'bath'" },
      { name: 'polygon', steps: [click(role('link', 'Kitchen'))], judge: "log.join() === 'kitchen'" },
    ],
  },
  {
    name: 'Form sent with Enter',
    html: `<form id="form"><label>Search <input name="q"></label><button hidden>Go</button></form><p id="said"></p>`,
    js: `form.addEventListener('submit', (event) => { event.preventDefault(); log.push(new FormData(form).get('q')); said.textContent = 'sent'; });`,
    tasks: [
      { name: 'fill, then Enter', steps: [fill(role('textbox', 'Search'), 'maps'), press('Enter')], judge: "log.join() === 'maps'" },
      {
        name: 'type, then Enter in the field',
        steps: [type(role('textbox', 'Search'), 'cats'), press('Enter', role('textbox', 'Search'))],
        judge: "log.join() === 'cats'",
      },
    ],
  },
  {
    name: 'Suggestions close on blur',
    style: '#list { border: 1px solid; width: 200px; margin: 0; padding: 0; list-style: none; } #list[hidden] { display: none; }',
    html: '<input id="city" role="combobox" aria-label="City" aria-controls="list" aria-expanded="false" autocomplete="off"><ul id="list" role="listbox" hidden></ul>',
    js: `const all = ['Berlin', 'Bern', 'Bergen', 'Bergamo'];
      const show = () => { const fitting = all.filter((one) => city.value && one.toLowerCase().startsWith(city.value.toLowerCase()));
        list.innerHTML = fitting.map((one) => '<li role="option">' + one + '</li>').join(''); list.hidden = fitting.length === 0;
        city.setAttribute('aria-expanded', String(!list.hidden)); };
      city.addEventListener('input', () => setTimeout(show, 150));
      city.addEventListener('blur', () => { list.hidden = true; });
      list.addEventListener('mousedown', (event) => { event.preventDefault(); city.value = event.target.textContent; log.push(city.value); list.hidden = true; });`,
    tasks: [
      { name: 'type and choose', steps: [type(role('combobox', 'City'), 'ber'), click(role('option', 'Bergen'))], judge: "city.value === 'Bergen'" },
      { name: 'fill and choose', steps: [fill(role('combobox', 'City'), 'ber'), click(role('option', 'Bern'))], judge: "city.value === 'Bern'" },
    ],
  },
  {
    name: 'Late, moving and covered',
    style: `@keyframes in { from { transform: translateX(-600px); } } .slide { animation: in 600ms; display: inline-block; }
      #cover { position: fixed; inset: 0; background: #0008; } #head { position: sticky; top: 0; height: 80px; background: #eee; }`,
    html: `<div id="head">Header</div><div id="place"></div><button id="off" disabled onclick="log.push('enabled')">Later</button>
      <button onclick="document.body.insertAdjacentHTML('beforeend', '<div id=cover></div>'); setTimeout(() => cover.remove(), 800)">Cover</button>
      <button onclick="log.push('under')">Under</button>
      <div style="height: 3000px"></div><button onclick="log.push('bottom')">Bottom</button>
      <div style="height: 3000px"></div><button onclick="log.push('last')">Last</button>`,
    js: `setTimeout(() => { place.innerHTML = '<div class="slide"><button onclick="log.push(\\'moved\\')">Moving</button></div>'; }, 300);
      setTimeout(() => { off.disabled = false; }, 1000);`,
    tasks: [
      { name: 'appears and moves', steps: [click(button('Moving'))], judge: "log.join() === 'moved'" },
      { name: 'becomes enabled', steps: [click(button('Later'))], judge: noted('enabled') },
      { name: 'covered for a while', steps: [click(button('Cover')), click(button('Under'))], judge: noted('under') },
      {
        name: 'far below a sticky header',
        steps: [click(button('Last')), click(button('Bottom')), scroll(undefined, 300)],
        judge: "log.join() === 'last,bottom'",
      },
    ],
  },
];
