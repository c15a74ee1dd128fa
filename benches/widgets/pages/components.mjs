// Web components, with shadow roots.

import { button, check, click, css, fill, press, role, select, text, type, waitFor } from '../steps.mjs';

const FRUIT = ['Apple', 'Banana', 'Cherry', 'Date'];

export const pages = [
  {
    name: 'Shoelace',
    library: '@shoelace-style/shoelace',
    css: ['@shoelace-style/shoelace/dist/themes/light.css'],
    html: `<sl-button id="go">Send</sl-button> <sl-checkbox id="agree">Agree</sl-checkbox> <sl-switch id="notify">Notify</sl-switch>
      <sl-input id="name" label="Name"></sl-input><sl-select id="fruit" label="Fruit">${FRUIT.map((one) => `<sl-option value="${one.toLowerCase()}">${one}</sl-option>`).join('')}</sl-select>
      <sl-dropdown><sl-button slot="trigger" caret>Menu</sl-button><sl-menu id="menu"><sl-menu-item value="cut">Cut</sl-menu-item><sl-menu-item value="paste">Paste</sl-menu-item></sl-menu></sl-dropdown>
      <sl-button id="open">Open</sl-button><sl-dialog id="dialog" label="Title">Text<sl-button slot="footer" id="close">Finish</sl-button></sl-dialog>
      <sl-tab-group><sl-tab slot="nav" panel="a">First</sl-tab><sl-tab slot="nav" panel="b">Second</sl-tab><sl-tab-panel name="a">A</sl-tab-panel><sl-tab-panel name="b">B</sl-tab-panel></sl-tab-group>`,
    js: `import '@shoelace-style/shoelace/dist/shoelace.js'; import { setBasePath } from '@shoelace-style/shoelace/dist/utilities/base-path.js'; setBasePath('/modules/@shoelace-style/shoelace/dist');
      go.addEventListener('click', () => log.push('send')); menu.addEventListener('sl-select', (event) => log.push(event.detail.item.value));
      document.getElementById('open').addEventListener('click', () => dialog.show()); document.getElementById('close').addEventListener('click', () => { log.push('done'); dialog.hide(); });`,
    ready: 'document.getElementById("go").updateComplete',
    tasks: [
      { name: 'button', steps: [click(button('Send'))], judge: "log.join() === 'send'" },
      { name: 'checkbox and switch', steps: [click(css('#agree', { role: 'checkbox', name: 'Agree' })), click(css('#notify', { role: 'switch', name: 'Notify' }))], judge: 'agree.checked && notify.checked' },
      { name: 'fill', steps: [fill(role('textbox', 'Name'), 'Ada')], judge: "document.getElementById('name').value === 'Ada'" },
      { name: 'select', steps: [click(role('combobox', 'Fruit')), click(role('option', 'Cherry'))], judge: "fruit.value === 'cherry'" },
      { name: 'menu', steps: [click(button('Menu')), click(role('menuitem', 'Paste'))], judge: "log.join() === 'paste'" },
      { name: 'dialog', steps: [click(button('Open')), click(button('Finish'))], judge: "log.join() === 'done' && !dialog.open" },
      { name: 'tab', steps: [click(role('tab', 'Second'))], judge: "document.querySelector('sl-tab[panel=b]').active" },
    ],
  },
  {
    name: 'Web Awesome',
    library: '@awesome.me/webawesome',
    css: ['@awesome.me/webawesome/dist/styles/webawesome.css'],
    html: `<wa-button id="go">Send</wa-button> <wa-checkbox id="agree">Agree</wa-checkbox><wa-input id="name" label="Name"></wa-input>
      <wa-select id="fruit" label="Fruit">${FRUIT.map((one) => `<wa-option value="${one.toLowerCase()}">${one}</wa-option>`).join('')}</wa-select>
      <wa-radio-group id="size" label="Size"><wa-radio value="s">Small</wa-radio><wa-radio value="l">Large</wa-radio></wa-radio-group>`,
    js: ['button', 'checkbox', 'input', 'select', 'option', 'radio', 'radio-group'].map((one) => `import '@awesome.me/webawesome/dist/components/${one}/${one}.js';`).join('\n') +
      `go.addEventListener('click', () => log.push('send'));`,
    ready: "customElements.get('wa-select') && document.getElementById('go').shadowRoot?.querySelector('button')",
    tasks: [
      { name: 'button', steps: [click(button('Send'))], judge: "log.join() === 'send'" },
      { name: 'checkbox', steps: [click(css('#agree', { role: 'checkbox', name: 'Agree' }))], judge: 'agree.checked' },
      { name: 'fill', steps: [fill(role('textbox', 'Name'), 'Ada')], judge: "document.getElementById('name').value === 'Ada'" },
      { name: 'select', steps: [click(role('combobox', 'Fruit')), click(role('option', 'Cherry'))], judge: "fruit.value === 'cherry'" },
      { name: 'radio', steps: [click(role('radio', 'Large'))], judge: "size.value === 'l'" },
    ],
  },
  {
    name: 'Material Web',
    library: '@material/web',
    html: `<md-filled-button id="go">Send</md-filled-button> <label><md-checkbox id="agree" aria-label="Agree"></md-checkbox></label> <md-switch id="notify" aria-label="Notify"></md-switch>
      <md-filled-text-field id="name" label="Name"></md-filled-text-field><md-outlined-select id="fruit" label="Fruit">${FRUIT.map((one) => `<md-select-option value="${one.toLowerCase()}"><div slot="headline">${one}</div></md-select-option>`).join('')}</md-outlined-select>
      <md-radio name="r" id="small" aria-label="Small"></md-radio><md-radio name="r" id="large" aria-label="Large"></md-radio><md-slider id="volume" aria-label="Volume"></md-slider>
      <span style="position:relative"><md-outlined-button id="anchor">Menu</md-outlined-button><md-menu id="menu" anchor="anchor"><md-menu-item id="cut"><div slot="headline">Cut</div></md-menu-item><md-menu-item id="paste"><div slot="headline">Paste</div></md-menu-item></md-menu></span>`,
    js: `import '@material/web/all.js'; go.addEventListener('click', () => log.push('send')); anchor.addEventListener('click', () => { menu.open = !menu.open; }); paste.addEventListener('click', () => log.push('paste'));`,
    ready: "document.getElementById('go').shadowRoot?.querySelector('button')",
    tasks: [
      { name: 'button', steps: [click(button('Send'))], judge: "log.join() === 'send'" },
      { name: 'checkbox, switch, radio', steps: [click(role('checkbox', 'Agree')), click(role('switch', 'Notify')), click(css('#large', { role: 'radio', name: 'Large' }))], judge: 'agree.checked && notify.selected && large.checked' },
      { name: 'fill', steps: [fill(role('textbox', 'Name'), 'Ada')], judge: "document.getElementById('name').value === 'Ada'" },
      { name: 'select', steps: [click(role('combobox', 'Fruit')), click(css('md-select-option[value=cherry]', { role: 'option', name: /Cherry/ }))], judge: "fruit.value === 'cherry'" },
      { name: 'slider by the keyboard', steps: [press('ArrowRight', role('slider', 'Volume'))], judge: 'volume.value === 51' },
      { name: 'menu', steps: [click(button('Menu')), click(role('menuitem', 'Paste'))], judge: "log.join() === 'paste'" },
    ],
  },
  {
    name: 'Ionic',
    library: '@ionic/core',
    head: '<script type="module" src="/modules/@ionic/core/dist/ionic/ionic.esm.js"></script><link rel="stylesheet" href="/modules/@ionic/core/css/ionic.bundle.css">',
    html: `<ion-app><ion-content class="ion-padding"><ion-button id="go">Send</ion-button><ion-item><ion-checkbox id="agree">Agree</ion-checkbox></ion-item><ion-item><ion-toggle id="notify">Notify</ion-toggle></ion-item>
      <ion-item><ion-input id="name" label="Name"></ion-input></ion-item><ion-item><ion-select id="fruit" label="Fruit">${FRUIT.map((one) => `<ion-select-option value="${one.toLowerCase()}">${one}</ion-select-option>`).join('')}</ion-select></ion-item>
      <ion-segment id="seg" value="a"><ion-segment-button value="a">First</ion-segment-button><ion-segment-button value="b">Second</ion-segment-button></ion-segment></ion-content></ion-app>`,
    js: `go.addEventListener('click', () => log.push('send'));`,
    ready: "document.querySelector('ion-select.hydrated') && document.getElementById('go').shadowRoot?.querySelector('button')",
    tasks: [
      { name: 'button', steps: [click(button(/^send$/i))], judge: "log.join() === 'send'" },
      { name: 'checkbox and toggle', steps: [click(css('#agree', { role: 'checkbox', name: 'Agree' })), click(css('#notify', { role: 'switch', name: 'Notify' }))], judge: 'agree.checked && notify.checked' },
      { name: 'fill', steps: [fill(role('textbox', 'Name'), 'Ada')], judge: "document.getElementById('name').value === 'Ada'" },
      { name: 'select in an alert', steps: [click(css('#fruit', { role: 'button', name: /Fruit/ })), click(role('radio', 'Cherry')), click(button(/^ok$/i))], judge: "fruit.value === 'cherry'" },
      { name: 'segment', steps: [click(role('tab', /^second$/i))], judge: "seg.value === 'b'" },
    ],
  },
  {
    name: 'Vaadin',
    library: '@vaadin/combo-box',
    html: '<vaadin-combo-box id="fruit" label="Fruit"></vaadin-combo-box><vaadin-date-picker id="date" label="Date"></vaadin-date-picker><vaadin-select id="kind" label="Kind"></vaadin-select><vaadin-grid id="grid" style="height:200px"><vaadin-grid-selection-column></vaadin-grid-selection-column><vaadin-grid-sort-column path="name"></vaadin-grid-sort-column></vaadin-grid>',
    js: `import '@vaadin/combo-box'; import '@vaadin/date-picker'; import '@vaadin/select'; import '@vaadin/grid'; import '@vaadin/grid/vaadin-grid-sort-column.js'; import '@vaadin/grid/vaadin-grid-selection-column.js';
      fruit.items = ${JSON.stringify(FRUIT)}; date.initialPosition = '2026-03-01'; kind.items = ${JSON.stringify(FRUIT.map((one) => ({ label: one, value: one })))}; grid.items = [{ name: 'Bob' }, { name: 'Ada' }, { name: 'Eve' }];`,
    ready: "document.querySelector('vaadin-grid-cell-content')?.textContent !== undefined",
    tasks: [
      { name: 'combo box', steps: [click(role('combobox', 'Fruit')), click(role('option', 'Cherry'))], judge: "fruit.value === 'Cherry'" },
      { name: 'combo box, type and Enter', steps: [type(role('combobox', 'Fruit'), 'Dat'), press('ArrowDown'), press('Enter')], judge: "fruit.value === 'Date'" },
      { name: 'date picker', steps: [click(role('combobox', 'Date')), waitFor('date.opened'), click(role('gridcell', /15 March 2026|March 15, 2026/))], judge: "date.value === '2026-03-15'" },
      { name: 'select', steps: [click(css('#kind vaadin-select-value-button', { role: 'button', name: /Kind/ })), click(role('option', 'Banana'))], judge: "kind.value === 'Banana'" },
      { name: 'sort the grid', steps: [click(css('vaadin-grid-sorter', { text: 'Name' }))], judge: "document.querySelector('vaadin-grid-sorter').direction === 'asc'" },
    ],
  },
  {
    name: 'Lit',
    library: 'lit',
    html: '<todo-app id="app"></todo-app>',
    js: `import { LitElement, html } from 'lit';
      customElements.define('todo-app', class extends LitElement { static properties = { items: { state: true } }; constructor() { super(); this.items = ['one']; }
        add() { const input = this.renderRoot.querySelector('input'); this.items = [...this.items, input.value]; input.value = ''; }
        render() { return html\`<input aria-label="New" @keydown=\${(event) => event.key === 'Enter' && this.add()}><button @click=\${this.add}>Add</button>
          <ul>\${this.items.map((item) => html\`<li>\${item} <button aria-label="Remove \${item}" @click=\${() => { this.items = this.items.filter((other) => other !== item); }}>x</button></li>\`)}</ul>\`; } });`,
    tasks: [
      { name: 'add by the button', steps: [fill(role('textbox', 'New'), 'two'), click(button('Add'))], judge: "app.items.join() === 'one,two'" },
      { name: 'add with Enter', steps: [fill(role('textbox', 'New'), 'two'), press('Enter')], judge: "app.items.join() === 'one,two'" },
      { name: 'remove', steps: [click(button('Remove one'))], judge: 'app.items.length === 0' },
    ],
  },
];
