// Pages without a library: patterns of web applications that are hard for tools.

import { button, check, click, css, fill, hover, press, role, scroll, select, text, type, uncheck, waitFor } from '../steps.mjs';

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
  {
    name: 'Geometry',
    style: `#narrow { width: 220px; } #spin { transform: rotate(40deg); margin: 40px; } #small { transform: scale(0.5); } #zoomed { zoom: 1.5; }
      #outer { height: 120px; overflow: auto; } #inner { height: 90px; overflow: auto; margin-top: 400px; } #late { content-visibility: auto; contain-intrinsic-size: 100px 800px; height: 800px; }
      #frame { transform: scale(0.7); transform-origin: 0 0; } #bar { position: fixed; bottom: 0; left: 0; right: 0; height: 60px; background: #ddd; }
      #badge { position: relative; display: inline-block; } #badge i { position: absolute; right: -6px; top: -6px; width: 16px; height: 16px; background: red; }
      #through { position: relative; display: inline-block; } #through span { position: absolute; inset: 0; background: #00f2; pointer-events: none; }`,
    html: `<p id="narrow">Some words before it <a href="#x" onclick="log.push('wrapped')">a link that wraps</a> here</p>
      <button id="spin" onclick="log.push('spin')">Rotated</button> <button id="small" onclick="log.push('small')">Scaled</button> <button id="zoomed" onclick="log.push('zoomed')">Zoomed</button>
      <span id="badge"><button onclick="log.push('badge')">Badge</button><i></i></span> <span id="through"><button onclick="log.push('through')">Through</button><span></span></span>
      <div id="outer"><div id="inner"><div style="height:500px"></div><button onclick="log.push('nested')">Nested</button></div><div style="height:500px"></div></div>
      <iframe id="frame" width="400" height="200" srcdoc="<div style='height:600px'></div><button onclick=&quot;parent.log.push('framed')&quot;>Framed</button>"></iframe>
      <div id="late"><div style="height:700px"></div><button onclick="log.push('late')">Late</button></div><button onclick="log.push('end')">End</button><div style="height:100px"></div><div id="bar">Bar</div>`,
    tasks: [
      { name: 'link over two lines', steps: [click(role('link', 'a link that wraps'))], judge: noted('wrapped') },
      { name: 'rotated, scaled, zoomed', steps: [click(button('Rotated')), click(button('Scaled')), click(button('Zoomed'))], judge: "log.join() === 'spin,small,zoomed'" },
      { name: 'badge, cover without pointer events', steps: [click(button('Badge')), click(button('Through'))], judge: "log.join() === 'badge,through'" },
      { name: 'scroller in a scroller', steps: [click(button('Nested'))], judge: noted('nested') },
      { name: 'in a scaled frame', steps: [click(button('Framed', { frame: '#frame' }))], judge: noted('framed') },
      { name: 'content-visibility', steps: [click(button('Late'))], judge: noted('late') },
      { name: 'above a fixed bar', steps: [click(button('End'))], judge: noted('end') },
    ],
  },
  {
    name: 'Controlled fields',
    library: 'react',
    html: '<div id="root"></div>',
    js: `import { useState } from 'react'; import { createRoot } from 'react-dom/client';
      const App = () => { const [now, change] = useState({ name: '', count: '', note: '', size: 'm', ok: false }); window.now = now;
        const set = (key, read = 'value') => (event) => change({ ...now, [key]: event.target[read] });
        return <form onSubmit={(event) => { event.preventDefault(); log.push('sent'); }}><label>Name <input value={now.name} onChange={(event) => change({ ...now, name: event.target.value.toUpperCase() })} /></label>
          <label>Count <input type="number" value={now.count} onChange={set('count')} /></label><label>Note <textarea value={now.note} onChange={set('note')} /></label>
          <label>Size <select value={now.size} onChange={set('size')}><option value="s">Small</option><option value="m">Medium</option><option value="l">Large</option></select></label>
          <label>Fine <input type="checkbox" checked={now.ok} onChange={set('ok', 'checked')} /></label><button disabled={!now.name || !now.ok}>Send</button></form>; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('form')",
    tasks: [
      {
        name: 'fill, select, check, send',
        steps: [
          fill(role('textbox', 'Name'), 'Ada'),
          fill(role('spinbutton', 'Count'), '12'),
          fill(role('textbox', 'Note'), 'two\nlines'),
          select(role('combobox', 'Size'), 'l'),
          check(role('checkbox', 'Fine')),
          click(button('Send')),
        ],
        judge: "JSON.stringify(now) === JSON.stringify({name: 'ADA', count: '12', note: 'two\\nlines', size: 'l', ok: true}) && log.join() === 'sent'",
      },
      { name: 'type, Enter', steps: [check(role('checkbox', 'Fine')), type(role('textbox', 'Name'), 'bob'), press('Enter')], judge: "now.name === 'BOB' && log.join() === 'sent'" },
      { name: 'check, uncheck', steps: [check(role('checkbox', 'Fine')), uncheck(role('checkbox', 'Fine')), uncheck(role('checkbox', 'Fine'))], judge: 'now.ok === false' },
    ],
  },
];
