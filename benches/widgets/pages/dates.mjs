// Date and colour pickers.

import { button, click, css, fill, press, role, select, text, type, within, clickAt, waitFor } from '../steps.mjs';

export const pages = [
  {
    name: 'Native date, time, color, range',
    html: `<label>Day <input id="day" type="date"></label> <label>At <input id="at" type="time"></label> <label>Month <input id="month" type="month"></label>
      <label>Color <input id="color" type="color"></label> <label>Volume <input id="volume" type="range"></label> <label>When <input id="moment" type="datetime-local"></label>`,
    tasks: [
      { name: 'fill a date', steps: [fill(css('#day'), '2026-03-15')], judge: "day.value === '2026-03-15'" },
      { name: 'fill a time', steps: [fill(css('#at'), '13:45')], judge: "at.value === '13:45'" },
      { name: 'fill a month', steps: [fill(css('#month'), '2026-03')], judge: "month.value === '2026-03'" },
      { name: 'fill a color', steps: [fill(css('#color'), '#ff8000')], judge: "color.value === '#ff8000'" },
      { name: 'fill a range', steps: [fill(role('slider', 'Volume'), '30')], judge: "volume.value === '30'" },
      { name: 'fill date and time', steps: [fill(css('#moment'), '2026-03-15T10:30')], judge: "moment.value === '2026-03-15T10:30'" },
    ],
  },
  {
    name: 'flatpickr',
    library: 'flatpickr',
    css: ['flatpickr/dist/flatpickr.css'],
    html: '<label>Date <input id="date"></label>',
    js: `import flatpickr from 'flatpickr'; window.picker = flatpickr('#date', { defaultDate: '2026-02-10', enableTime: true });`,
    tasks: [
      { name: 'next month, pick 15', steps: [click(role('textbox', 'Date')), click(css('.flatpickr-next-month')), click(css('[aria-label="March 15, 2026"]', { text: 'March 15, 2026' }))], judge: "date.value.startsWith('2026-03-15')" },
      { name: 'month by the select', steps: [click(role('textbox', 'Date')), select(role('combobox', 'Month'), 'May'), click(css('[aria-label="May 20, 2026"]', { text: 'May 20, 2026' }))], judge: "date.value.startsWith('2026-05-20')" },
      { name: 'hour', steps: [click(role('textbox', 'Date')), fill(role('spinbutton', 'Hour'), '09'), press('Enter')], judge: "date.value === '2026-02-10 21:00' || date.value === '2026-02-10 09:00'" },
    ],
  },
  {
    name: 'react-datepicker',
    library: 'react-datepicker',
    css: ['react-datepicker/dist/react-datepicker.css'],
    html: '<div id="root"></div>',
    js: `import { useState } from 'react'; import { createRoot } from 'react-dom/client'; import DatePicker from 'react-datepicker';
      const App = () => { const [day, change] = useState(new Date(2026, 1, 10)); window.day = day; return <DatePicker selected={day} onChange={change} ariaLabel="Date" id="date" />; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('input')",
    tasks: [
      { name: 'next month, pick 15', steps: [click(css('#date', { role: 'textbox' })), click(button('Next Month')), click(css('.react-datepicker__day--015:not(.react-datepicker__day--outside-month)', { role: 'gridcell', name: /March 15/ }))], judge: 'window.day.getMonth() === 2 && window.day.getDate() === 15' },
      { name: 'fill', steps: [fill(css('#date', { role: 'textbox' }), '03/15/2026'), press('Enter')], judge: 'window.day?.getMonth() === 2 && window.day.getDate() === 15' },
    ],
  },
  {
    name: 'Vanilla Calendar Pro',
    library: 'vanilla-calendar-pro',
    css: ['vanilla-calendar-pro/styles/index.css'],
    html: '<div id="calendar"></div>',
    js: `import { Calendar } from 'vanilla-calendar-pro'; const calendar = new Calendar('#calendar', { selectedMonth: 1, selectedYear: 2026, onClickDate: (self) => { window.picked = self.context.selectedDates.join(); } }); calendar.init();`,
    tasks: [
      { name: 'next month, pick 15', steps: [click(css('[data-vc-arrow=next]')), click(css('[data-vc-date="2026-03-15"] button'))], judge: "window.picked === '2026-03-15'" },
    ],
  },
  {
    name: 'Air Datepicker',
    library: 'air-datepicker',
    css: ['air-datepicker/air-datepicker.css'],
    html: '<label>Date <input id="date"></label>',
    js: `import Air from 'air-datepicker'; import locale from 'air-datepicker/locale/en'; window.air = new (Air.default ?? Air)('#date', { locale: locale.default ?? locale, startDate: new Date(2026, 1, 1) });`,
    tasks: [
      {
        name: 'next month, pick 15',
        steps: [click(role('textbox', 'Date')), click(css('.air-datepicker-nav--action[data-action=next]')), click(css('.-day-[data-date="15"][data-month="2"]', { text: '15' }))],
        judge: 'air.selectedDates[0]?.getMonth() === 2 && air.selectedDates[0].getDate() === 15',
      },
    ],
  },
  {
    name: 'Pikaday',
    library: 'pikaday',
    css: ['pikaday/css/pikaday.css'],
    html: '<label>Date <input id="date"></label>',
    js: `import Pikaday from 'pikaday'; window.picker = new Pikaday({ field: date, defaultDate: new Date(2026, 1, 10) });`,
    tasks: [
      { name: 'next month, pick 15', steps: [click(role('textbox', 'Date')), click(button('Next Month')), click(button('15'))], judge: 'picker.getDate()?.getMonth() === 2 && picker.getDate().getDate() === 15' },
      { name: 'month by the select', steps: [click(role('textbox', 'Date')), select(css('.pika-select-month'), 'May'), click(button('20'))], judge: 'picker.getDate()?.getMonth() === 4 && picker.getDate().getDate() === 20' },
    ],
  },
  {
    name: 'Pickr',
    library: '@simonwep/pickr',
    css: ['@simonwep/pickr/dist/themes/classic.min.css'],
    html: '<div id="pick"></div>',
    js: `import Pickr from '@simonwep/pickr'; window.pickr = Pickr.create({ el: '#pick', theme: 'classic', default: '#ff0000', swatches: ['#00ff00', '#0000ff'], components: { preview: true, hue: true, interaction: { input: true, save: true } } });`,
    tasks: [
      { name: 'choose a swatch, save', steps: [click(button('toggle color picker dialog')), click(button('color swatch', { nth: 1 })), click(css('.pcr-save', { role: 'button', name: 'save and close' }))], judge: "pickr.getSelectedColor()?.toHEXA().toString() === '#0000FF'" },
      { name: 'type a color', steps: [click(button('toggle color picker dialog')), fill(role('textbox', 'color input field'), '#123456'), press('Enter'), click(css('.pcr-save', { role: 'button', name: 'save and close' }))], judge: "pickr.getSelectedColor()?.toHEXA().toString() === '#123456'" },
      { name: 'point in the palette', steps: [click(button('toggle color picker dialog')), waitFor("document.querySelector('.pcr-app.visible')"), clickAt(within('.pcr-palette', 0.05, 0.95)), click(css('.pcr-save', { role: 'button', name: 'save and close' }))], judge: "pickr.getColor().toHSVA()[2] < 10" },
    ],
  },
];
