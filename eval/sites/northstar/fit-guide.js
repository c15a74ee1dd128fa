// The fit guide: five sections, one of which can be saved, and a refresh button that floats over the panel.

import { Drawer } from './drawer.js';
import { onScrollPause, whenCentred } from './geometry.js';

const SIDE_MARGIN = 16;
const TOP_MARGIN = 96;

const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

/** Puts the floating button over the place where the other button is now. */
function float(button, over, drawer) {
  button.hidden = false;
  const place = over.getBoundingClientRect();
  const bounds = drawer.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = button;
  const left = place.left + place.width / 2 - width / 2;
  const top = place.top + place.height / 2 - height / 2;
  button.style.left = clamp(left, bounds.left + SIDE_MARGIN, bounds.right - SIDE_MARGIN - width) + 'px';
  button.style.top = clamp(top, bounds.top + TOP_MARGIN, bounds.bottom - SIDE_MARGIN - height) + 'px';
}

export function setUpFitGuide(tracker, onSaved) {
  const element = document.getElementById('fit-guide');
  const save = document.getElementById('fit-guide-save');
  const refresh = document.getElementById('refresh-page');
  const opener = document.getElementById('open-fit-guide');
  const drawer = new Drawer(tracker, 'fit_guide', element, opener);
  const place = () => drawer.isOpen && float(refresh, save, element);

  opener.addEventListener('click', () => {
    drawer.show();
    tracker.track('fit_guide_open', {});
    refresh.hidden = true;
    requestAnimationFrame(() => requestAnimationFrame(place));
  });
  window.addEventListener('resize', place);

  refresh.addEventListener('click', () => {
    tracker.track('page_refresh', { source: 'fit_guide' });
    location.reload();
  });

  save.addEventListener('click', () => {
    const { section } = save.dataset;
    save.disabled = true;
    save.textContent = 'Guide saved';
    document.getElementById('fit-feedback').textContent = 'Care & Wash goes with your order.';
    onSaved(section);
    tracker.track('fit_guide_save', { section });
  });

  onScrollPause(drawer.panel, () => {
    const { scrollTop, scrollHeight, clientHeight } = drawer.panel;
    if (drawer.isOpen) tracker.track('fit_guide_scroll', { scrollTop, maxScrollTop: scrollHeight - clientHeight });
  });
  whenCentred(drawer.panel, document.getElementById('care-wash'), () => tracker.track('fit_guide_geometry_ready', { section: 'care-wash' }));
}
