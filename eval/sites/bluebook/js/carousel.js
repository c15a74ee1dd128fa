// The pictures of a note: buttons or a swipe show the next one, the last is followed by the first.

import { el } from './dom.js';
import { draw } from './art.js';

const SWIPE_MIN = 48;
const SWIPE_SLOPE = 0.75;
const track = (type, data) => window.tracker.track(type, data);

function slideContent(note, slide, label) {
  const attributes = { class: 'swiper-slide swiper-slide-active', 'aria-roledescription': 'slide' };
  if (!slide) return el('div', { ...attributes, class: `${attributes.class} slide-quote` }, el('blockquote', {}, note.quote));
  if (slide.file) return el('div', attributes, el('img', { src: slide.file, alt: label, width: '900', height: '1125', draggable: 'false' }));
  return el('div', { ...attributes, html: draw(slide, label) });
}

export function startCarousel(container, note) {
  const count = Math.max(1, note.slides.length);
  let index = 0;
  let start = null;

  function render() {
    const label = `Picture ${index + 1} of ${count}`;
    const swiper = el('div', { class: 'swiper', role: 'group', 'aria-roledescription': 'carousel', 'aria-label': 'Pictures' },
      el('div', { class: 'swiper-wrapper' }, slideContent(note, note.slides[index], label)));
    if (count > 1) swiper.append(...controls());
    container.replaceChildren(swiper);
    track('note_media_render', { noteId: note.id, slideIndex: index, slideCount: count });
  }

  function controls() {
    return [
      el('button', { class: 'swiper-button-prev', type: 'button', 'aria-label': 'Previous picture', onclick: () => step('prev') }, '‹'),
      el('button', { class: 'swiper-button-next', type: 'button', 'aria-label': 'Next picture', onclick: () => step('next') }, '›'),
      el('span', { class: 'swiper-fraction' }, `${index + 1} / ${count}`),
      el('span', { class: 'swiper-pagination', 'aria-hidden': 'true' }, ...note.slides.map((_, slide) => el('i', { class: slide === index ? 'is-active' : '' }))),
    ];
  }

  function move(by, source) {
    index = (index + by + count) % count;
    track('note_media_swipe', { noteId: note.id, source, slideIndex: index });
    render();
  }

  function step(direction) {
    move(direction === 'next' ? 1 : -1, direction);
    container.querySelector(`.swiper-button-${direction}`).focus();
  }

  function swipeEnd(x, y, source) {
    if (!start || count < 2) return;
    const dx = x - start.x;
    const dy = y - start.y;
    start = null;
    if (Math.abs(dx) >= SWIPE_MIN && Math.abs(dy) <= SWIPE_SLOPE * Math.abs(dx)) move(dx < 0 ? 1 : -1, source);
  }

  function pointerUp(event) {
    if (event.pointerType !== 'touch') swipeEnd(event.clientX, event.clientY, 'pointer');
  }

  container.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'touch' || event.button > 0 || event.target.closest('button')) return;
    start = { x: event.clientX, y: event.clientY };
    window.addEventListener('pointerup', pointerUp, { once: true });
  });
  container.addEventListener('touchstart', (event) => {
    const [touch] = event.changedTouches;
    start = event.touches.length === 1 && !event.target.closest('button') ? { x: touch.clientX, y: touch.clientY } : null;
  }, { passive: true });
  container.addEventListener('touchend', (event) => {
    const [touch] = event.changedTouches;
    swipeEnd(touch.clientX, touch.clientY, 'touch');
  });
  container.addEventListener('touchcancel', () => { start = null; });
  render();
}
