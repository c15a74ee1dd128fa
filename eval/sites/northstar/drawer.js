// A modal panel at the right edge: one is open at a time, the page behind it is inert.

const page = document.getElementById('page');
const backdrop = document.getElementById('backdrop');
let open = null;

export class Drawer {
  constructor(tracker, name, element, opener) {
    this.tracker = tracker;
    this.name = name;
    this.element = element;
    this.opener = opener;
    this.panel = element.querySelector('.drawer-scroll');
    element.querySelector('.close').addEventListener('click', () => this.close('button'));
  }

  show() {
    open = this;
    this.element.hidden = false;
    backdrop.hidden = false;
    page.inert = true;
    document.body.classList.add('locked');
    this.panel.scrollTop = 0;
    this.element.querySelector('.close').focus();
  }

  close(method) {
    open = null;
    this.element.hidden = true;
    backdrop.hidden = true;
    page.inert = false;
    document.body.classList.remove('locked');
    this.opener.focus({ preventScroll: true });
    this.tracker.track('drawer_close', { drawer: this.name, method });
  }

  get isOpen() {
    return open === this;
  }
}

backdrop.addEventListener('click', () => open && open.close('backdrop'));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && open) open.close('escape');
});
