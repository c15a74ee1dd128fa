// Dialogs, menus, tooltips, uploads.

import { button, click, css, fill, hover, press, role, text, type, upload, waitFor } from '../steps.mjs';

export const pages = [
  {
    name: 'SweetAlert2',
    library: 'sweetalert2',
    html: '<button id="ask">Delete</button><button id="name">Rename</button>',
    js: `import Swal from 'sweetalert2'; ask.onclick = async () => log.push((await Swal.fire({ title: 'Sure?', showCancelButton: true })).isConfirmed);
      document.getElementById('name').onclick = async () => log.push((await Swal.fire({ title: 'New name', input: 'text', showCancelButton: true })).value);`,
    tasks: [
      { name: 'confirm', steps: [click(button('Delete')), click(button('OK'))], judge: "log.join() === 'true'" },
      { name: 'cancel', steps: [click(button('Delete')), click(button('Cancel'))], judge: "log.join() === 'false'" },
      { name: 'fill and confirm', steps: [click(button('Rename')), fill(css('.swal2-input', { role: 'textbox' }), 'report'), click(button('OK'))], judge: "log.join() === 'report'" },
      { name: 'fill, then Enter', steps: [click(button('Rename')), fill(css('.swal2-input', { role: 'textbox' }), 'report'), press('Enter')], judge: "log.join() === 'report'" },
    ],
  },
  {
    name: 'Bootstrap',
    library: 'bootstrap',
    css: ['bootstrap/dist/css/bootstrap.css'],
    html: `<button class="btn btn-primary" data-bs-toggle="modal" data-bs-target="#modal">Open dialog</button>
      <div class="dropdown"><button class="btn dropdown-toggle" data-bs-toggle="dropdown">Menu</button><ul class="dropdown-menu"><li><a class="dropdown-item" href="#" onclick="log.push('edit')">Edit</a></li><li><a class="dropdown-item" href="#" onclick="log.push('remove')">Remove</a></li></ul></div>
      <div class="modal fade" id="modal" tabindex="-1"><div class="modal-dialog"><div class="modal-content"><div class="modal-header"><h5 class="modal-title">Title</h5><button class="btn-close" data-bs-dismiss="modal" aria-label="Close"></button></div><div class="modal-body"><input aria-label="Name"></div><div class="modal-footer"><button class="btn btn-primary" data-bs-dismiss="modal" onclick="log.push('saved')">Save</button></div></div></div></div>
      <div class="form-check form-switch"><input class="form-check-input" type="checkbox" id="sw"><label class="form-check-label" for="sw">Notify</label></div>
      <div class="btn-group"><input type="radio" class="btn-check" name="r" id="r1"><label class="btn btn-outline-primary" for="r1">Left</label><input type="radio" class="btn-check" name="r" id="r2"><label class="btn btn-outline-primary" for="r2">Right</label></div>
      <div class="accordion"><div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed" data-bs-toggle="collapse" data-bs-target="#c1">Section</button></h2><div id="c1" class="accordion-collapse collapse"><div class="accordion-body"><button onclick="log.push('inside')">Inside</button></div></div></div></div>`,
    js: `import * as bootstrap from 'bootstrap'; window.bootstrap = bootstrap;`,
    tasks: [
      { name: 'dialog', steps: [click(button('Open dialog')), fill(role('textbox', 'Name'), 'Ada'), click(button('Save'))], judge: "log.join() === 'saved' && document.querySelector('.modal input').value === 'Ada' && !document.querySelector('.modal.show')" },
      { name: 'dialog, Escape', steps: [click(button('Open dialog')), waitFor("document.activeElement.id === 'modal'"), press('Escape')], judge: "!document.querySelector('.modal.show') && !document.querySelector('.modal-backdrop')" },
      { name: 'menu', steps: [click(button('Menu')), click(role('link', 'Remove'))], judge: "log.join() === 'remove'" },
      { name: 'switch, button of a radio', steps: [click(role('checkbox', 'Notify')), click(text('Right'))], judge: 'sw.checked && r2.checked' },
      { name: 'accordion', steps: [click(button('Section')), click(button('Inside'))], judge: "log.join() === 'inside'" },
    ],
  },
  {
    name: 'Micromodal',
    library: 'micromodal',
    style: '.modal { display: none; } .modal.is-open { display: block; } .overlay { position: fixed; inset: 0; background: #0006; display: flex; justify-content: center; align-items: center; } .box { background: #fff; padding: 30px; }',
    html: `<button data-micromodal-trigger="m1">Open</button><button onclick="log.push('behind')">Behind</button>
      <div class="modal" id="m1" aria-hidden="true"><div class="overlay" tabindex="-1" data-micromodal-close><div class="box" role="dialog" aria-modal="true" aria-labelledby="t"><h2 id="t">Title</h2><button onclick="log.push('ok')">Fine</button><button aria-label="Close" data-micromodal-close>x</button></div></div></div>`,
    js: `import MicroModal from 'micromodal'; MicroModal.init();`,
    tasks: [
      { name: 'open, answer, close', steps: [click(button('Open')), click(button('Fine')), click(button('Close')), click(button('Behind'))], judge: "log.join() === 'ok,behind'" },
    ],
  },
  {
    name: 'Native dialog, popover, details',
    html: `<button onclick="dlg.showModal()">Open</button><dialog id="dlg"><form method="dialog"><label>Name <input id="field"></label><button value="yes">Save</button></form></dialog>
      <button popovertarget="pop">More</button><div id="pop" popover><button onclick="log.push('pop')">In the popover</button></div>
      <details><summary>Details</summary><button onclick="log.push('inside')">Inside</button></details>`,
    tasks: [
      { name: 'dialog', steps: [click(button('Open')), fill(role('textbox', 'Name'), 'Ada'), click(button('Save'))], judge: "dlg.returnValue === 'yes' && field.value === 'Ada'" },
      { name: 'dialog, Enter', steps: [click(button('Open')), fill(role('textbox', 'Name'), 'Ada'), press('Enter')], judge: "dlg.returnValue === 'yes' && !dlg.open" },
      { name: 'popover', steps: [click(button('More')), click(button('In the popover'))], judge: "log.join() === 'pop'" },
      { name: 'details', steps: [click(css('summary', { text: 'Details' })), click(button('Inside'))], judge: "log.join() === 'inside'" },
    ],
  },
  {
    name: 'Tippy.js',
    library: 'tippy.js',
    css: ['tippy.js/dist/tippy.css'],
    html: '<button id="help">Help</button> <button id="menu">Menu</button>',
    js: `import tippy from 'tippy.js'; tippy(help, { content: 'Some help', onShown: () => log.push('shown') });
      const box = document.createElement('div'); box.innerHTML = '<button onclick="log.push(\\'copy\\')">Copy</button>'; tippy(document.getElementById('menu'), { content: box, interactive: true, trigger: 'click', appendTo: document.body });`,
    tasks: [
      { name: 'hover', steps: [hover(button('Help'))], judge: "log.join() === 'shown'" },
      { name: 'click in a popup', steps: [click(button('Menu')), click(button('Copy'))], judge: "log.join() === 'copy'" },
    ],
  },
  {
    name: 'Floating UI',
    library: '@floating-ui/dom',
    style: '#menu, #sub { position: absolute; display: none; background: #fff; border: 1px solid; } #menu div, #sub div { padding: 8px 20px; }',
    html: `<button id="open" style="margin: 300px">File</button><div id="menu" role="menu"><div role="menuitem" onclick="log.push('new')">New</div><div role="menuitem" id="more">Share</div></div><div id="sub" role="menu"><div role="menuitem" onclick="log.push('mail')">Mail</div></div>`,
    js: `import { computePosition, autoUpdate, flip, shift, offset } from '@floating-ui/dom';
      const place = (anchor, box, placement) => autoUpdate(anchor, box, () => computePosition(anchor, box, { placement, middleware: [offset(4), flip(), shift()] }).then(({ x, y }) => Object.assign(box.style, { left: x + 'px', top: y + 'px' })));
      open.onclick = () => { menu.style.display = 'block'; place(document.getElementById('open'), menu, 'bottom-start'); }; document.getElementById('open').onclick = open.onclick;
      more.addEventListener('mouseenter', () => setTimeout(() => { sub.style.display = 'block'; place(more, sub, 'right-start'); }, 150));`,
    tasks: [
      { name: 'menu', steps: [click(button('File')), click(role('menuitem', 'New'))], judge: "log.join() === 'new'" },
      { name: 'menu of a menu by hover', steps: [click(button('File')), hover(role('menuitem', 'Share')), click(role('menuitem', 'Mail'))], judge: "log.join() === 'mail'" },
    ],
  },
  {
    name: 'Native file input',
    html: '<label>Report <input id="file" type="file"></label> <button id="pick">Attach</button>',
    js: `document.getElementById('pick').onclick = () => { const input = document.createElement('input'); input.type = 'file'; input.onchange = async () => log.push(input.files[0].name + ':' + await input.files[0].text()); input.click(); };`,
    tasks: [
      { name: 'through the input', steps: [upload(css('#file'), 'report.txt', 'abc')], judge: "file.files[0]?.name === 'report.txt'" },
      { name: 'through a button', steps: [upload(button('Attach'), 'report.txt', 'abc')], judge: "log.join() === 'report.txt:abc'" },
    ],
  },
  {
    name: 'Dropzone',
    library: 'dropzone',
    css: ['dropzone/dist/dropzone.css'],
    html: '<form id="zone" class="dropzone" action="/echo"></form>',
    js: `import * as module from 'dropzone'; const Dropzone = module.Dropzone ?? module.default; Dropzone.autoDiscover = false; window.zone1 = new Dropzone('#zone'); zone1.on('success', (file) => log.push(file.name));`,
    tasks: [{ name: 'click and choose a file', steps: [upload(css('.dz-button'), 'photo.txt')], judge: "log.join() === 'photo.txt'" }],
  },
  {
    name: 'FilePond',
    library: 'filepond',
    css: ['filepond/dist/filepond.css'],
    html: '<input type="file" id="pond">',
    js: `import * as FilePond from 'filepond'; window.pond1 = FilePond.create(document.getElementById('pond'));`,
    ready: "document.querySelector('.filepond--label-action')",
    tasks: [
      { name: 'click Browse and choose a file', steps: [upload(text('Browse'), 'photo.txt')], judge: "pond1.getFiles()[0]?.filename === 'photo.txt'" },
      { name: 'choose, then remove', steps: [upload(text('Browse'), 'photo.txt'), waitFor('pond1.getFiles().length === 1'), click(css('.filepond--action-remove-item', { role: 'button', name: 'Remove' }))], judge: 'pond1.getFiles().length === 0' },
    ],
  },
  {
    name: 'Uppy',
    library: '@uppy/dashboard',
    css: ['@uppy/core/css/style.min.css', '@uppy/dashboard/css/style.min.css'],
    html: '<div id="uppy"></div>',
    js: `import Uppy from '@uppy/core'; import Dashboard from '@uppy/dashboard'; window.uppy = new Uppy().use(Dashboard, { inline: true, target: '#uppy' });`,
    ready: "document.querySelector('.uppy-Dashboard-browse')",
    tasks: [{ name: 'browse and choose a file', steps: [upload(button('browse files'), 'photo.txt')], judge: "uppy.getFiles()[0]?.name === 'photo.txt'" }],
  },
];
