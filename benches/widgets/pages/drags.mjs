// Sortables, sliders, carousels.

import { button, click, css, drag, dragAt, dragPoints, fill, press, role, text, waitFor, within } from '../steps.mjs';

const below = (selector) => within(selector, 0.5, 0.9);
const items = (tag = 'li') => ['One', 'Two', 'Three', 'Four', 'Five'].map((one) => `<${tag} class="item">${one}</${tag}>`).join('');
const STYLE = '.item { display: block; padding: 10px; margin: 4px; width: 200px; border: 1px solid #888; background: #fff; cursor: grab; user-select: none; } .list { list-style: none; padding: 0; width: 240px; }';
const ORDER = "[...document.querySelectorAll('.item')].map((one) => one.textContent).join()";
const MOVED = `${ORDER} === 'Two,Three,One,Four,Five'`;
// The final position depends on where the pointer is when the rows swap.
const MOVED_DOWN = `!${ORDER}.startsWith('One')`;
const first = text('One');
const third = '.item:nth-child(3)';
const react = `import { useState } from 'react'; import { createRoot } from 'react-dom/client';`;

export const pages = [
  {
    name: 'Native drag and drop',
    style: STYLE,
    html: '<div id="card" class="item" draggable="true">Card</div><div id="bin" style="width:200px;height:120px;border:2px dashed">Bin</div>',
    js: `card.addEventListener('dragstart', (event) => event.dataTransfer.setData('text/plain', 'card'));
      bin.addEventListener('dragover', (event) => event.preventDefault());
      bin.addEventListener('drop', (event) => { event.preventDefault(); log.push(event.dataTransfer.getData('text/plain')); });`,
    tasks: [{ name: 'drop a card', steps: [drag(text('Card'), css('#bin', { text: 'Bin' }))], judge: "log.join() === 'card'" }],
  },
  {
    name: 'SortableJS, native',
    library: 'sortablejs',
    style: STYLE,
    html: `<ul id="list" class="list">${items()}</ul>`,
    js: `import Sortable from 'sortablejs'; new Sortable(list);`,
    tasks: [
      { name: 'first row onto the lower half of the third', steps: [dragAt(first, below(third))], judge: MOVED_DOWN },
      { name: 'first row onto the third', steps: [drag(first, text('Three'))], judge: `${ORDER} !== 'One,Two,Three,Four,Five'` },
    ],
  },
  {
    name: 'SortableJS, forceFallback',
    library: 'sortablejs',
    style: STYLE,
    html: `<ul id="list" class="list">${items()}</ul>`,
    js: `import Sortable from 'sortablejs'; new Sortable(list, { animation: 150, forceFallback: true });`,
    tasks: [
      { name: 'first row below the third', steps: [dragAt(first, below(third))], judge: MOVED },
      { name: 'last row onto the second', steps: [drag(text('Five'), text('Two'))], judge: `${ORDER} !== 'One,Two,Three,Four,Five'` },
    ],
  },
  {
    name: 'dnd kit',
    library: '@dnd-kit/core',
    style: STYLE,
    html: '<div id="root"></div>',
    js: `${react} import { DndContext, closestCenter, PointerSensor, KeyboardSensor, useSensor, useSensors } from '@dnd-kit/core';
      import { SortableContext, useSortable, arrayMove, verticalListSortingStrategy, sortableKeyboardCoordinates } from '@dnd-kit/sortable'; import { CSS } from '@dnd-kit/utilities';
      const Item = ({ id }) => { const { attributes, listeners, setNodeRef, transform, transition } = useSortable({ id });
        return <div ref={setNodeRef} className="item" style={{ transform: CSS.Transform.toString(transform), transition }} {...attributes} {...listeners}>{id}</div>; };
      const App = () => { const [ids, change] = useState(['One', 'Two', 'Three', 'Four', 'Five']);
        const sensors = useSensors(useSensor(PointerSensor), useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }));
        return <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={({ active, over }) => { if (over && active.id !== over.id) change((now) => arrayMove(now, now.indexOf(active.id), now.indexOf(over.id))); }}>
          <SortableContext items={ids} strategy={verticalListSortingStrategy}><div className="list">{ids.map((id) => <Item key={id} id={id} />)}</div></SortableContext></DndContext>; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('.item')",
    tasks: [
      { name: 'first row onto the third', steps: [drag(button('One'), button('Three'))], judge: MOVED },
      { name: 'by the keyboard', steps: [press('Space', button('One')), waitFor("document.querySelector('.item').getAttribute('aria-pressed') === 'true'"), press('ArrowDown'), waitFor("document.querySelectorAll('.item')[1].style.transform !== ''"), press('Space')], judge: `${ORDER} === 'Two,One,Three,Four,Five'` },
    ],
  },
  {
    name: 'hello-pangea/dnd',
    library: '@hello-pangea/dnd',
    style: STYLE,
    html: '<div id="root"></div>',
    js: `${react} import { DragDropContext, Droppable, Draggable } from '@hello-pangea/dnd';
      const App = () => { const [ids, change] = useState(['One', 'Two', 'Three', 'Four', 'Five']);
        const end = ({ source, destination }) => { if (!destination) return; const next = [...ids]; next.splice(destination.index, 0, ...next.splice(source.index, 1)); change(next); };
        return <DragDropContext onDragEnd={end}><Droppable droppableId="list">{(drop) => <div className="list" ref={drop.innerRef} {...drop.droppableProps}>
          {ids.map((id, index) => <Draggable key={id} draggableId={id} index={index}>{(one) => <div className="item" ref={one.innerRef} {...one.draggableProps} {...one.dragHandleProps}>{id}</div>}</Draggable>)}{drop.placeholder}</div>}</Droppable></DragDropContext>; };
      createRoot(root).render(<App />);`,
    ready: "document.querySelector('.item')",
    tasks: [
      { name: 'first row below the third', steps: [dragAt(button('One'), below(third))], judge: MOVED },
      { name: 'by the keyboard', steps: [press('Space', button('One')), waitFor("document.querySelector('.item').style.position === 'fixed'"), press('ArrowDown'), waitFor("document.body.textContent.includes('to position 2')"), press('Space')], judge: `${ORDER} === 'Two,One,Three,Four,Five'` },
    ],
  },
  {
    name: 'Dragula',
    library: 'dragula',
    css: ['dragula/dist/dragula.css'],
    style: STYLE,
    html: `<div id="list" class="list">${items('div')}</div><div id="other" class="list" style="min-height:60px;border:1px solid">Target</div>`,
    js: `import dragula from 'dragula'; dragula([list, other]);`,
    tasks: [
      { name: 'first row below the third', steps: [dragAt(first, below(third))], judge: MOVED },
      { name: 'into the other list', steps: [drag(text('Two'), css('#other', { text: 'Target' }))], judge: "other.textContent.includes('Two')" },
    ],
  },
  {
    name: 'noUiSlider',
    library: 'nouislider',
    css: ['nouislider/dist/nouislider.css'],
    html: '<div id="slider" style="width:400px;margin:40px"></div>',
    js: `import noUiSlider from 'nouislider'; noUiSlider.create(slider, { start: [50], step: 1, range: { min: 0, max: 100 }, connect: 'lower' });`,
    tasks: [
      { name: 'drag to 30', steps: [dragAt(role('slider'), within('#slider', 0.3))], judge: 'Number(slider.noUiSlider.get()) === 30' },
      { name: 'by the keyboard', steps: [press('Home', role('slider')), press('ArrowRight'), press('ArrowRight')], judge: 'Number(slider.noUiSlider.get()) > 0' },
    ],
  },
  {
    name: 'rc-slider',
    library: 'rc-slider',
    css: ['rc-slider/assets/index.css'],
    html: '<div id="root" style="width:400px;margin:40px"></div>',
    js: `${react} import Slider from 'rc-slider'; const App = () => { const [now, change] = useState(50); window.now = now; return <Slider value={now} onChange={change} ariaLabelForHandle="Volume" />; }; createRoot(root).render(<App />);`,
    ready: "document.querySelector('.rc-slider-handle')",
    tasks: [
      { name: 'drag to 30', steps: [dragAt(role('slider', 'Volume'), within('#root', 0.3))], judge: 'window.now === 30' },
      { name: 'by the keyboard', steps: [press('ArrowRight', role('slider', 'Volume')), press('ArrowRight')], judge: 'window.now === 52' },
    ],
  },
  {
    name: 'Ion.RangeSlider',
    library: 'ion-rangeslider',
    css: ['ion-rangeslider/css/ion.rangeSlider.css'],
    html: '<div style="width:400px;margin:40px"><input id="range"></div>',
    js: `import $ from 'jquery'; window.$ = window.jQuery = $; await import('ion-rangeslider'); $('#range').ionRangeSlider({ min: 0, max: 100, from: 50, skin: 'flat' }); window.range1 = $('#range').data('ionRangeSlider');`,
    tasks: [
      { name: 'drag to 30', steps: [dragAt(css('.irs-handle'), within('.irs-line', 0.3))], judge: 'Math.abs(range1.result.from - 30) <= 3' },
    ],
  },
  {
    name: 'Swiper',
    library: 'swiper',
    css: ['swiper/swiper-bundle.css'],
    html: `<div class="swiper" style="width:500px;height:200px"><div class="swiper-wrapper">${[1, 2, 3, 4].map((n) => `<div class="swiper-slide"><button onclick="log.push(${n})">Buy ${n}</button></div>`).join('')}</div><div class="swiper-button-next"></div><div class="swiper-button-prev"></div><div class="swiper-pagination"></div></div>`,
    js: `import Swiper from 'swiper/bundle'; window.swiper = new Swiper('.swiper', { navigation: { nextEl: '.swiper-button-next', prevEl: '.swiper-button-prev' }, pagination: { el: '.swiper-pagination', clickable: true } });`,
    tasks: [
      { name: 'next, then click in the slide', steps: [click(css('.swiper-button-next', { role: 'button', name: 'Next slide' })), click(button('Buy 2'))], judge: "swiper.activeIndex === 1 && log.join() === '2'" },
      { name: 'third slide by its bullet', steps: [click(css('.swiper-pagination-bullet:nth-child(3)', { role: 'button', name: 'Go to slide 3' }))], judge: 'swiper.activeIndex === 2' },
      { name: 'drag to the next slide', steps: [dragPoints(within('.swiper', 0.8, 0.7), within('.swiper', 0.1, 0.7))], judge: 'swiper.activeIndex === 1' },
    ],
  },
  {
    name: 'Swiper, scroll snap',
    library: 'swiper',
    css: ['swiper/swiper-bundle.css'],
    html: `<div class="swiper" style="width:500px;height:200px"><div class="swiper-wrapper">${[1, 2, 3, 4].map((n) => `<div class="swiper-slide"><button onclick="log.push(${n})">Buy ${n}</button></div>`).join('')}</div><div class="swiper-button-next"></div></div>`,
    js: `import Swiper from 'swiper/bundle'; window.swiper = new Swiper('.swiper', { cssMode: true, navigation: { nextEl: '.swiper-button-next' } });`,
    tasks: [
      { name: 'click in the third slide', steps: [click(button('Buy 3'))], judge: "log.join() === '3'" },
      { name: 'next, then click in the slide', steps: [click(css('.swiper-button-next', { role: 'button', name: 'Next slide' })), click(button('Buy 2'))], judge: "log.join() === '2'" },
    ],
  },
  {
    name: 'Splide',
    library: '@splidejs/splide',
    css: ['@splidejs/splide/dist/css/splide.min.css'],
    html: `<section class="splide" aria-label="Slides" style="width:500px"><div class="splide__track"><ul class="splide__list">${[1, 2, 3].map((n) => `<li class="splide__slide" style="height:150px"><button onclick="log.push(${n})">Buy ${n}</button></li>`).join('')}</ul></div></section>`,
    js: `import Splide from '@splidejs/splide'; window.splide = new Splide('.splide', { type: 'loop' }).mount();`,
    tasks: [
      { name: 'next, then click in the slide', steps: [click(button('Next slide')), click(css('#splide01-slide02 button', { role: 'button', name: 'Buy 2' }))], judge: "splide.index === 1 && log.join() === '2'" },
      { name: 'page 3', steps: [click(css('.splide__pagination li:nth-child(3) button'))], judge: 'splide.index === 2' },
    ],
  },
];
