// Libraries of other kinds.

import { button, click, css, dragAt, fill, keys, press, role, text, type, waitFor, within } from '../steps.mjs';

export const pages = [
  {
    name: 'Element Plus',
    library: 'element-plus',
    css: ['element-plus/dist/index.css'],
    html: '<div id="app"></div>',
    build: { alias: { vue: 'vue/dist/vue.esm-bundler.js' }, define: { 'process.env.NODE_ENV': '"production"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false' } },
    js: `import { createApp, reactive } from 'vue'; import ElementPlus from 'element-plus'; window.state = reactive({ one: '', many: [], date: '', on: false, size: '', count: 1, agreed: false, open: false, tree: [] });
      createApp({ setup: () => ({ state, fruit: ['Apple', 'Banana', 'Cherry', 'Date'], done: () => { log.push('done'); state.open = false; } }),
        template: \`<div style="width:300px;display:grid;gap:12px"><el-select v-model="state.one" aria-label="Fruit"><el-option v-for="f in fruit" :key="f" :label="f" :value="f" /></el-select>
          <el-date-picker v-model="state.date" type="date" aria-label="Date" :default-value="new Date(2026, 2, 1)" value-format="YYYY-MM-DD" />
          <el-switch v-model="state.on" aria-label="Notify" /><el-checkbox v-model="state.agreed" label="Agree" />
          <el-radio-group v-model="state.size"><el-radio-button label="Small" value="s" /><el-radio-button label="Large" value="l" /></el-radio-group>
          <el-input-number v-model="state.count" aria-label="Count" /><el-button @click="state.open = true">Open</el-button>
          <el-dialog v-model="state.open" title="Title"><el-button @click="done">Finish</el-button></el-dialog></div>\` }).use(ElementPlus).mount('#app');`,
    ready: "document.querySelector('.el-select')",
    tasks: [
      { name: 'select', steps: [click(css('.el-select__wrapper', { role: 'combobox', name: 'Fruit' })), click(css('.el-select-dropdown__item:nth-child(3)', { role: 'option', name: 'Cherry' }))], judge: "state.one === 'Cherry'" },
      { name: 'pick 15 March', steps: [click(role('combobox', 'Date')), click(css('td.available:not(.prev-month) >> text="15"', { text: '15' }))], judge: "state.date === '2026-03-15'" },
      { name: 'switch and checkbox', steps: [click(css('.el-switch', { role: 'switch', name: 'Notify' })), click(text('Agree'))], judge: 'state.on && state.agreed' },
      { name: 'button of a radio', steps: [click(text('Large'))], judge: "state.size === 'l'" },
      { name: 'number', steps: [click(button('increase number')), click(button('increase number'))], judge: 'state.count === 3' },
      { name: 'dialog', steps: [click(button('Open')), click(button('Finish'))], judge: "log.join() === 'done' && !state.open" },
    ],
  },
  {
    name: 'FullCalendar',
    library: '@fullcalendar/core',
    html: '<div id="calendar" style="width:900px"></div>',
    js: `import { Calendar } from '@fullcalendar/core'; import dayGrid from '@fullcalendar/daygrid'; import interaction from '@fullcalendar/interaction';
      window.calendar1 = new Calendar(calendar, { plugins: [dayGrid, interaction], initialDate: '2026-03-01', height: 650, editable: true, events: [{ id: 'a', title: 'Meeting', start: '2026-03-10' }],
        dateClick: ({ dateStr }) => log.push(dateStr), eventClick: ({ event }) => log.push(event.title) }); calendar1.render();`,
    ready: "document.querySelector('.fc-event')",
    tasks: [
      { name: 'next month', steps: [click(css('.fc-next-button', { role: 'button', name: /next/i }))], judge: 'calendar1.getDate().getMonth() === 3' },
      { name: 'click an event', steps: [click(text('Meeting'))], judge: "log.join() === 'Meeting'" },
      { name: 'click a day', steps: [click(css('[data-date="2026-03-18"]', { role: 'gridcell', name: /March 18/ }))], judge: "log.join() === '2026-03-18'" },
      { name: 'drag an event to another day', steps: [dragAt(text('Meeting'), within('[data-date="2026-03-19"]'))], judge: "calendar1.getEventById('a').startStr === '2026-03-19'" },
    ],
  },
  {
    name: 'intl-tel-input',
    library: 'intl-tel-input',
    css: ['intl-tel-input/dist/css/intlTelInput.css'],
    html: '<label for="phone">Phone</label> <input id="phone" type="tel">',
    js: `import intlTelInput from 'intl-tel-input'; window.tel = intlTelInput(phone, { initialCountry: 'us' });`,
    ready: "document.querySelector('.iti')",
    tasks: [
      { name: 'choose a country', steps: [click(css('.iti__selected-country')), click(css('.iti__country[data-country-code=ch], [data-iso2=ch]', { role: 'option', name: /Switzerland/ }))], judge: "/Switzerland/.test(document.querySelector('.iti__selected-country').getAttribute('aria-label'))" },
      { name: 'search for a country', steps: [click(css('.iti__selected-country')), keys('Norway'), press('Enter')], judge: "/Norway/.test(document.querySelector('.iti__selected-country').getAttribute('aria-label'))" },
    ],
  },
  {
    name: 'PhotoSwipe',
    library: 'photoswipe',
    css: ['photoswipe/dist/photoswipe.css'],
    html: `<div id="gallery">${['gray', 'teal', 'navy'].map((color, n) => { const image = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='400' height='300'%3E%3Crect width='400' height='300' fill='${color}'/%3E%3C/svg%3E`; return `<a href="${image}" data-pswp-width="400" data-pswp-height="300"><img alt="Photo ${n + 1}" width="120" height="90" src="${image}"></a>`; }).join(' ')}</div>`,
    js: `import Lightbox from 'photoswipe/lightbox'; import PhotoSwipe from 'photoswipe'; window.box = new Lightbox({ gallery: '#gallery', children: 'a', pswpModule: PhotoSwipe }); box.init();`,
    tasks: [
      { name: 'open, next', steps: [click(role('link', 'Photo 1')), click(button('Next'))], judge: 'box.pswp?.currIndex === 1' },
      { name: 'open, close', steps: [click(role('link', 'Photo 1')), waitFor('box.pswp?.opener.isOpen'), click(button('Close'))], judge: "!document.querySelector('.pswp')" },
      { name: 'open, next by the keyboard', steps: [click(role('link', 'Photo 2')), waitFor('box.pswp?.opener.isOpen'), press('ArrowRight')], judge: 'box.pswp?.currIndex === 2' },
    ],
  },
];
