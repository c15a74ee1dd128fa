// Comboboxes, selects, tags, masks.

import { button, click, css, fill, keys, press, role, select, text, type, waitFor } from '../steps.mjs';

const FRUIT = ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry', 'Fig', 'Grape'];
const options = FRUIT.map((one) => `<option value="${one.toLowerCase()}">${one}</option>`).join('');
const list = JSON.stringify(FRUIT);
const objects = JSON.stringify(FRUIT.map((label) => ({ value: label.toLowerCase(), label })));

export const pages = [
  {
    name: 'Native select',
    html: `<label>Fruit <select id="one">${options}</select></label> <label>Many <select id="many" multiple size="5">${options}</select></label>
      <input aria-label="Typed" list="fruit"><datalist id="fruit">${options}</datalist>`,
    tasks: [
      { name: 'choose one', steps: [select(role('combobox', 'Fruit'), 'cherry')], judge: "one.value === 'cherry'" },
      {
        name: 'choose two of a list',
        steps: [select(role('listbox', 'Many'), ['banana', 'fig'])],
        judge: "[...many.selectedOptions].map((option) => option.value).join() === 'banana,fig'",
      },
      { name: 'fill a field with a datalist', steps: [fill(role('combobox', 'Typed'), 'Fig')], judge: "document.querySelector('input').value === 'Fig'" },
    ],
  },
  {
    name: 'Select2',
    library: 'select2',
    css: ['select2/dist/css/select2.css'],
    html: `<select id="one" style="width:300px">${options}</select><p></p><select id="many" multiple style="width:300px">${options}</select>`,
    js: `import $ from 'jquery'; import select2 from 'select2'; window.$ = window.jQuery = $; if (!$.fn.select2) select2(window, $);
      $('#one').select2(); $('#many').select2({ placeholder: 'Many' });`,
    tasks: [
      {
        name: 'choose the third entry',
        steps: [click(css('#one + .select2 .select2-selection', { role: 'combobox', name: 'Apple' })), click(role('option', 'Cherry'))],
        judge: "one.value === 'cherry'",
      },
      {
        name: 'search, then Enter',
        steps: [click(css('#one + .select2 .select2-selection', { role: 'combobox', name: 'Apple' })), keys('eld'), press('Enter')],
        judge: "one.value === 'elderberry'",
      },
      {
        name: 'two tags',
        steps: [click(css('#many + .select2 .select2-selection')), click(role('option', 'Fig')), click(css('#many + .select2 .select2-selection')), click(role('option', 'Grape'))],
        judge: "$('#many').val().join() === 'fig,grape'",
      },
    ],
  },
  {
    name: 'Tom Select',
    library: 'tom-select',
    css: ['tom-select/dist/css/tom-select.css'],
    html: `<label for="one">Fruit</label><select id="one">${options}</select><p></p><label for="many">Tags</label><input id="many" value="">`,
    js: `import TomSelect from 'tom-select'; window.one1 = new TomSelect('#one', {}); window.tags = new TomSelect('#many', { create: true, persist: false });`,
    tasks: [
      { name: 'choose the third entry', steps: [click(css('#one + .ts-wrapper .ts-control')), click(css('.ts-dropdown [data-value=cherry]'))], judge: "document.getElementById('one').value === 'cherry'" },
      {
        name: 'create two tags',
        steps: [click(css('#many-ts-control', { role: 'combobox', name: 'Tags' })), keys('red'), press('Enter'), keys('blue'), press('Enter')],
        judge: "tags.items.join() === 'red,blue'",
      },
    ],
  },
  {
    name: 'Choices.js',
    library: 'choices.js',
    css: ['choices.js/public/assets/styles/choices.css'],
    html: `<select id="one">${options}</select><p></p><input id="tags" aria-label="Tags">`,
    js: `import Choices from 'choices.js'; new Choices('#one', { labelId: 'l', shouldSort: false }); window.tags = new Choices(document.getElementById('tags'), {});`,
    tasks: [
      { name: 'choose the third entry', steps: [click(css('.choices[data-type*=select-one]', { role: 'combobox' })), click(css('.choices__list--dropdown [data-value=cherry]'))], judge: "one.value === 'cherry'" },
      { name: 'search, then Enter', steps: [click(css('.choices[data-type*=select-one]', { role: 'combobox' })), keys('grape'), press('Enter')], judge: "one.value === 'grape'" },
      {
        name: 'two tags',
        steps: [click(css('.choices[data-type=text] .choices__input--cloned')), keys('red'), press('Enter'), keys('blue'), press('Enter')],
        judge: "tags.getValue(true).join() === 'red,blue'",
      },
    ],
  },
  {
    name: 'React Select',
    library: 'react-select',
    html: '<div id="root"></div>',
    js: `import { createRoot } from 'react-dom/client'; import Select from 'react-select';
      const options = ${objects};
      createRoot(root).render(<div><Select aria-label="Fruit" options={options} onChange={(now) => { window.one = now.value; }} />
        <Select aria-label="Many" isMulti options={options} onChange={(now) => { window.many = now.map((part) => part.value); }} /></div>);`,
    ready: "document.querySelector('input')",
    tasks: [
      { name: 'choose the third entry', steps: [click(role('combobox', 'Fruit')), click(role('option', 'Cherry'))], judge: "window.one === 'cherry'" },
      { name: 'open by the arrow', steps: [click(css('[class*=indicatorContainer]', { nth: 0 })), click(role('option', 'Banana'))], judge: "window.one === 'banana'" },
      { name: 'search, then Enter', steps: [type(role('combobox', 'Fruit'), 'gra'), press('Enter')], judge: "window.one === 'grape'" },
      {
        name: 'two of many, remove one',
        steps: [click(role('combobox', 'Many')), click(role('option', 'Fig')), click(role('combobox', 'Many')), click(role('option', 'Date')), click(button('Remove Fig'))],
        judge: "window.many?.join() === 'date'",
      },
    ],
  },
  {
    name: 'Downshift',
    library: 'downshift',
    html: '<div id="root"></div>',
    js: `import { useState } from 'react'; import { createRoot } from 'react-dom/client'; import { useCombobox } from 'downshift';
      const all = ${list};
      const App = () => { const [items, change] = useState(all);
        const { isOpen, getToggleButtonProps, getLabelProps, getMenuProps, getInputProps, getItemProps, highlightedIndex } = useCombobox({ items,
          onInputValueChange: ({ inputValue }) => change(all.filter((one) => one.toLowerCase().includes(inputValue.toLowerCase()))),
          onSelectedItemChange: ({ selectedItem }) => { window.one = selectedItem; } });
        return <div><label {...getLabelProps()}>Fruit</label><input {...getInputProps()} /><button aria-label="toggle menu" {...getToggleButtonProps()}>v</button>
          <ul {...getMenuProps()}>{isOpen && items.map((item, index) => <li key={item} {...getItemProps({ item, index })} style={{ background: index === highlightedIndex ? '#ccc' : '' }}>{item}</li>)}</ul></div>; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('input')",
    tasks: [
      { name: 'open and choose', steps: [click(button('toggle menu')), click(role('option', 'Cherry'))], judge: "window.one === 'Cherry'" },
      { name: 'fill and choose', steps: [fill(role('combobox', 'Fruit'), 'gra'), click(role('option', 'Grape'))], judge: "window.one === 'Grape'" },
      { name: 'type and arrow keys', steps: [type(role('combobox', 'Fruit'), 'e'), press('ArrowDown'), press('ArrowDown'), press('Enter')], judge: "window.one === 'Cherry'" },
    ],
  },
  {
    name: 'jQuery UI',
    library: 'jquery-ui',
    css: ['jquery-ui/dist/themes/base/jquery-ui.css'],
    html: `<label for="auto">Language</label> <input id="auto"> <label for="date">Date</label> <input id="date">
      <ul id="sort" style="list-style:none;width:200px">${['One', 'Two', 'Three', 'Four'].map((one) => `<li class="ui-state-default" style="padding:8px">${one}</li>`).join('')}</ul>
      <div id="slider" style="width:400px;margin:30px"></div>
      <select id="menu">${options}</select><div id="tabs"><ul><li><a href="#t1">First</a></li><li><a href="#t2">Second</a></li></ul><div id="t1">one</div><div id="t2">two</div></div>`,
    js: `import $ from 'jquery'; window.$ = window.jQuery = $; await import('jquery-ui/dist/jquery-ui.js');
      $('#auto').autocomplete({ source: ['Java', 'JavaScript', 'Rust', 'Ruby'], delay: 50 }); $('#date').datepicker({ defaultDate: new Date(2026, 2, 1) });
      $('#sort').sortable(); $('#slider').slider(); $('#menu').selectmenu(); $('#tabs').tabs(); window.order = () => $('#sort li').map((_, one) => one.textContent).get().join();`,
    tasks: [
      { name: 'autocomplete', steps: [type(role('textbox', 'Language'), 'ru'), click(text('Ruby'))], judge: "auto.value === 'Ruby'" },
      { name: 'pick 15 March', steps: [click(role('textbox', 'Date')), click(role('link', '15'))], judge: "date.value === '03/15/2026'" },
      {
        name: 'drag the first row below the third',
        steps: [{ kind: 'drag', target: text('One'), at: "(() => { const box = document.querySelectorAll('#sort li')[2].getBoundingClientRect(); return {x: box.left + box.width / 2, y: box.bottom - 4}; })()" }],
        judge: "order() === 'Two,Three,One,Four'",
      },
      {
        name: 'slider by the keyboard',
        steps: [click(css('.ui-slider-handle')), press('Home'), ...Array.from({ length: 5 }, () => press('ArrowRight'))],
        judge: "$('#slider').slider('value') === 5",
      },
      {
        name: 'slider by dragging',
        steps: [{ kind: 'drag', target: css('.ui-slider-handle'), at: "(() => { const box = slider.getBoundingClientRect(); return {x: box.left + box.width * 0.3, y: box.top + box.height / 2}; })()" }],
        judge: "$('#slider').slider('value') === 30",
      },
      { name: 'select menu', steps: [click(css('#menu-button', { role: 'combobox' })), click(role('option', 'Cherry'))], judge: "$('#menu').val() === 'cherry'" },
      { name: 'tab', steps: [click(role('tab', 'Second'))], judge: "$('#tabs').tabs('option', 'active') === 1" },
    ],
  },
  {
    name: 'Headless UI',
    library: '@headlessui/react',
    html: '<div id="root"></div>',
    js: `import { useState } from 'react'; import { createRoot } from 'react-dom/client';
      import { Listbox, ListboxButton, ListboxOptions, ListboxOption, Menu, MenuButton, MenuItems, MenuItem, Switch, Combobox, ComboboxInput, ComboboxOptions, ComboboxOption } from '@headlessui/react';
      const all = ${list};
      const App = () => { const [one, change] = useState('Apple'); const [on, turn] = useState(false); const [found, pick] = useState(''); const [query, ask] = useState('');
        window.one = one; window.on = on; window.found = found;
        return <div><Listbox value={one} onChange={change}><ListboxButton>{one}</ListboxButton><ListboxOptions anchor="bottom">{all.map((item) => <ListboxOption key={item} value={item}>{item}</ListboxOption>)}</ListboxOptions></Listbox>
          <Menu><MenuButton>Actions</MenuButton><MenuItems anchor="bottom"><MenuItem><button onClick={() => log.push('edit')}>Edit</button></MenuItem><MenuItem><button onClick={() => log.push('delete')}>Delete</button></MenuItem></MenuItems></Menu>
          <Switch checked={on} onChange={turn} aria-label="Notify" style={{ width: 40, height: 20 }} />
          <Combobox value={found} onChange={pick}><ComboboxInput aria-label="Find" onChange={(event) => ask(event.target.value)} /><ComboboxOptions anchor="bottom">{all.filter((item) => item.toLowerCase().includes(query.toLowerCase())).map((item) => <ComboboxOption key={item} value={item}>{item}</ComboboxOption>)}</ComboboxOptions></Combobox></div>; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('button')",
    tasks: [
      { name: 'listbox', steps: [click(button('Apple')), click(role('option', 'Cherry'))], judge: "window.one === 'Cherry'" },
      { name: 'menu', steps: [click(button('Actions')), click(role('menuitem', 'Delete'))], judge: "log.join() === 'delete'" },
      { name: 'switch', steps: [click(role('switch', 'Notify'))], judge: 'window.on === true' },
      { name: 'combobox', steps: [type(role('combobox', 'Find'), 'gr'), click(role('option', 'Grape'))], judge: "window.found === 'Grape'" },
    ],
  },
  {
    name: 'Radix UI',
    library: '@radix-ui/react-select',
    html: '<div id="root"></div>',
    js: `import { useState } from 'react'; import { createRoot } from 'react-dom/client'; import * as Select from '@radix-ui/react-select'; import * as Menu from '@radix-ui/react-dropdown-menu';
      const all = ${list};
      const App = () => { const [one, change] = useState('Apple'); window.one = one;
        return <div><Select.Root value={one} onValueChange={change}><Select.Trigger aria-label="Fruit"><Select.Value /></Select.Trigger><Select.Portal><Select.Content><Select.Viewport>
          {all.map((item) => <Select.Item key={item} value={item}><Select.ItemText>{item}</Select.ItemText></Select.Item>)}</Select.Viewport></Select.Content></Select.Portal></Select.Root>
          <Menu.Root><Menu.Trigger>Options</Menu.Trigger><Menu.Portal><Menu.Content><Menu.Item onSelect={() => log.push('new')}>New tab</Menu.Item>
            <Menu.Sub><Menu.SubTrigger>More tools</Menu.SubTrigger><Menu.Portal><Menu.SubContent><Menu.Item onSelect={() => log.push('save')}>Save page</Menu.Item></Menu.SubContent></Menu.Portal></Menu.Sub></Menu.Content></Menu.Portal></Menu.Root></div>; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('button')",
    tasks: [
      { name: 'select', steps: [click(role('combobox', 'Fruit')), click(role('option', 'Cherry'))], judge: "window.one === 'Cherry'" },
      { name: 'select twice', steps: [click(role('combobox', 'Fruit')), click(role('option', 'Fig')), click(role('combobox', 'Fruit')), click(role('option', 'Date'))], judge: "window.one === 'Date'" },
      { name: 'menu', steps: [click(button('Options')), click(role('menuitem', 'New tab'))], judge: "log.join() === 'new'" },
      { name: 'menu of a menu', steps: [click(button('Options')), click(role('menuitem', 'More tools')), click(role('menuitem', 'Save page'))], judge: "log.join() === 'save'" },
    ],
  },
  {
    name: 'Ant Design',
    library: 'antd',
    html: '<div id="root"></div>',
    js: `import { createRoot } from 'react-dom/client'; import { Select, Checkbox, Radio, Switch, Slider, Modal, Button, Cascader } from 'antd'; import { useState } from 'react';
      const App = () => { const [open, show] = useState(false); return <div style={{ display: 'grid', gap: 16, width: 400 }}><Select aria-label="Fruit" options={${objects}} showSearch onChange={(now) => { window.one = now; }} />
        <Select aria-label="Many" mode="multiple" options={${objects}} onChange={(now) => { window.many = now; }} />
        <Checkbox onChange={(event) => { window.agreed = event.target.checked; }}>Agree</Checkbox>
        <Radio.Group onChange={(event) => { window.size = event.target.value; }} options={['Small', 'Large']} optionType="button" />
        <Switch aria-label="Notify" onChange={(now) => { window.on = now; }} />
        <Button onClick={() => show(true)}>Open</Button><Modal title="Sure?" open={open} onOk={() => { log.push('ok'); show(false); }} onCancel={() => show(false)}>Text</Modal></div>; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('input')",
    tasks: [
      { name: 'choose the third entry', steps: [click(role('combobox', 'Fruit')), click(css('.ant-select-item-option[title=Cherry]', { text: 'Cherry' }))], judge: "window.one === 'cherry'" },
      { name: 'search, then Enter', steps: [type(role('combobox', 'Fruit'), 'grap'), press('Enter')], judge: "window.one === 'grape'" },
      {
        name: 'two of many',
        steps: [click(role('combobox', 'Many')), click(css('.ant-select-item-option[title=Fig]', { text: 'Fig' })), click(css('.ant-select-item-option[title=Date]', { text: 'Date' }))],
        judge: "window.many?.join() === 'fig,date'",
      },
      { name: 'checkbox, radio, switch', steps: [click(role('checkbox', 'Agree')), click(text('Large')), click(role('switch', 'Notify'))], judge: "window.agreed && window.size === 'Large' && window.on" },
      { name: 'dialog', steps: [click(button('Open')), click(button('OK'))], judge: "log.join() === 'ok'" },
    ],
  },
  {
    name: 'MUI',
    library: '@mui/material',
    html: '<div id="root"></div>',
    js: `import { createRoot } from 'react-dom/client'; import { Autocomplete, TextField, Select, MenuItem, Checkbox, FormControlLabel, Slider, Switch } from '@mui/material';
      createRoot(root).render(<div style={{ width: 400 }}><Autocomplete options={${list}} onChange={(_, now) => { window.one = now; }} renderInput={(given) => <TextField {...given} label="Fruit" />} />
        <Select defaultValue="Apple" inputProps={{ 'aria-label': 'Kind' }} onChange={(event) => { window.kind = event.target.value; }}>{${list}.map((item) => <MenuItem key={item} value={item}>{item}</MenuItem>)}</Select>
        <FormControlLabel control={<Checkbox onChange={(event) => { window.agreed = event.target.checked; }} />} label="Agree" />
        <Slider aria-label="Volume" defaultValue={50} onChange={(_, now) => { window.volume = now; }} /></div>);`,
    ready: "document.querySelector('input')",
    tasks: [
      { name: 'autocomplete', steps: [type(role('combobox', 'Fruit'), 'ch'), click(role('option', 'Cherry'))], judge: "window.one === 'Cherry'" },
      { name: 'open and choose', steps: [click(button('Open')), click(role('option', 'Date'))], judge: "window.one === 'Date'" },
      { name: 'select', steps: [click(css('.MuiSelect-select', { role: 'combobox', name: /Apple|Kind/ })), click(role('option', 'Fig'))], judge: "window.kind === 'Fig'" },
      { name: 'checkbox', steps: [click(role('checkbox', 'Agree'))], judge: 'window.agreed === true' },
      { name: 'slider by the keyboard', steps: [press('ArrowRight', role('slider', 'Volume')), press('ArrowRight')], judge: 'window.volume === 52' },
    ],
  },
  {
    name: 'Tagify',
    library: '@yaireo/tagify',
    css: ['@yaireo/tagify/dist/tagify.css'],
    html: '<input id="tags" aria-label="Tags">',
    js: `import Tagify from '@yaireo/tagify'; window.tagify = new Tagify(document.getElementById('tags'), { whitelist: ${list}, dropdown: { enabled: 1 } });`,
    tasks: [
      { name: 'two tags', steps: [click(css('.tagify__input')), keys('zulu'), press('Enter'), waitFor('tagify.value.length === 1'), keys('quiz'), press('Enter')], judge: "tagify.value.map((tag) => tag.value).join() === 'zulu,quiz'" },
      { name: 'choose a suggestion', steps: [click(css('.tagify__input')), keys('che'), click(css('.tagify__dropdown__item[value=Cherry]', { text: 'Cherry' }))], judge: "tagify.value.map((tag) => tag.value).join() === 'Cherry'" },
      { name: 'remove a tag', steps: [click(css('.tagify__input')), keys('zulu'), press('Enter'), click(css('.tagify__tag__removeBtn'))], judge: 'tagify.value.length === 0' },
    ],
  },
  {
    name: 'IMask',
    library: 'imask',
    html: '<label>Phone <input id="phone"></label>',
    js: `import IMask from 'imask'; window.mask = IMask(phone, { mask: '+{7}(000)000-00-00' });`,
    tasks: [
      { name: 'type', steps: [type(role('textbox', 'Phone'), '9161234567')], judge: "mask.value === '+7(916)123-45-67'" },
      { name: 'fill', steps: [fill(role('textbox', 'Phone'), '9161234567')], judge: "mask.value === '+7(916)123-45-67'" },
    ],
  },
  {
    name: 'Cleave.js',
    library: 'cleave.js',
    html: '<label>Card <input id="card"></label>',
    js: `import Cleave from 'cleave.js'; window.cleave = new Cleave('#card', { creditCard: true });`,
    tasks: [
      { name: 'type', steps: [type(role('textbox', 'Card'), '4111111111111111')], judge: "card.value === '4111 1111 1111 1111' && cleave.getRawValue() === '4111111111111111'" },
      { name: 'fill', steps: [fill(role('textbox', 'Card'), '4111111111111111')], judge: "card.value === '4111 1111 1111 1111' && cleave.getRawValue() === '4111111111111111'" },
    ],
  },
];
