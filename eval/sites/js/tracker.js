/**
 * Reports what happens on a page of a mock site to `POST /api/track`.
 *
 * Every site includes this file and `/js/run.js`, and creates one tracker:
 *
 *     window.tracker = new AgentTracker('techforum', 'medium');
 *     tracker.track('upvote_toggle', { questionId: 3, voted: true });
 *
 * Each event has a number `seq`, which rises across all pages of one origin, and
 * `trusted`: whether the browser, and not a script, caused it (`null` for events
 * without a DOM event behind them). Events are sent in order; those that have
 * not arrived when the page is left are sent again as a beacon, or by the next
 * page if a beacon has no room for them; the server drops what it received twice.
 */
(function () {
  'use strict';

  const TEXT_MAX = 100;
  const PARENT_TEXT_MAX = 200;
  const SCROLL_PAUSE_MS = 100;
  const HOVER_PAUSE_MS = 500;
  const BEACON_MAX_BYTES = 60000;
  const SEQ_KEY = 'agent_tracking_seq';
  const UNSENT_KEY = 'agent_tracking_unsent';

  const oneLine = (text, max) => String(text || '').replace(/\s+/g, ' ').trim().slice(0, max);
  // `className` and `href` of SVG elements are objects; the attribute is a text.
  const classOf = (element) => element.getAttribute('class') || '';
  const visibleText = (element) => oneLine('innerText' in element ? element.innerText : element.textContent, 10000);

  function selectorOf(element) {
    if (element.id) return '#' + element.id;
    const classes = classOf(element).split(/\s+/).filter(Boolean);
    return [element.tagName.toLowerCase(), ...classes].join('.');
  }

  function describe(element) {
    return {
      element: element.tagName.toLowerCase(),
      elementId: element.id || '',
      elementClass: classOf(element),
    };
  }

  /** Text of the first of three ancestors that says more than the element. */
  function parentText(element) {
    const own = visibleText(element);
    let parent = element.parentElement;
    for (let level = 0; level < 3 && parent; level += 1, parent = parent.parentElement) {
      const text = visibleText(parent);
      if (text.length > own.length) return text.slice(0, PARENT_TEXT_MAX);
    }
    return own.slice(0, PARENT_TEXT_MAX);
  }

  const isElement = (target) => target instanceof Element;
  const isTextField = (target) => target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;

  class AgentTracker {
    constructor(site, difficulty) {
      this.site = site;
      this.difficulty = difficulty;
      this.sessionId = crypto.getRandomValues(new Uint32Array(4)).join('-');
      this.events = [];
      this.unsent = this.leftByOthers();
      this.sending = false;
      this.lastTime = 0;
      this.seq = 0;
      this.domEvent = null;
      this.listen();
      this.track('page_view', { url: location.href, title: document.title });
    }

    /** Appends an event. `data` may hold any JSON values under other names than the common ones. */
    track(eventType, data) {
      const dom = this.domEvent || (typeof window.event === 'object' ? window.event : null);
      this.lastTime = Math.max(this.lastTime, performance.timeOrigin + performance.now());
      const event = {
        timestamp: this.lastTime,
        sessionId: this.sessionId,
        seq: this.nextNumber(),
        trusted: dom ? dom.isTrusted : null,
        site: this.site,
        difficulty: this.difficulty,
        page: location.pathname,
        eventType,
        ...data,
      };
      this.events.push(event);
      this.unsent.push(event);
      this.send();
      return event;
    }

    getEvents() {
      return this.events.slice();
    }

    exportEvents() {
      return JSON.stringify(this.events, null, 2);
    }

    clearEvents() {
      this.events = [];
    }

    nextNumber() {
      let stored = 0;
      try {
        stored = Number(localStorage.getItem(SEQ_KEY)) || 0;
        this.seq = Math.max(this.seq, stored) + 1;
        localStorage.setItem(SEQ_KEY, String(this.seq));
      } catch {
        this.seq += 1; // storage is blocked, as in a sandboxed frame
      }
      return this.seq;
    }

    /** Events that an earlier page of the origin could not send. */
    leftByOthers() {
      try {
        const left = JSON.parse(localStorage.getItem(UNSENT_KEY) || '[]');
        localStorage.removeItem(UNSENT_KEY);
        return left;
      } catch {
        return [];
      }
    }

    /** One request at a time, so that events arrive in order. */
    async send() {
      if (this.sending) return;
      this.sending = true;
      while (this.unsent.length > 0) {
        const batch = this.unsent.slice(0, 50);
        try {
          const answer = await fetch('/api/track', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(batch),
            keepalive: true,
          });
          // An unread body counts against the 64 KiB that a page may send with keepalive.
          await answer.arrayBuffer();
          // A refused batch is refused again; it is dropped, so that later events get through.
          if (!answer.ok && answer.status >= 500) throw new Error('not stored');
          this.unsent.splice(0, batch.length);
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      }
      this.sending = false;
    }

    /** What has not been confirmed when the page is left goes out as beacons, or is kept for the next page. */
    flush() {
      let batch = [];
      let bytes = 0;
      const left = [];
      const sendBatch = () => {
        const body = new Blob([JSON.stringify(batch)], { type: 'application/json' });
        if (batch.length > 0 && !navigator.sendBeacon('/api/track', body)) left.push(...batch);
        batch = [];
        bytes = 0;
      };
      for (const event of this.unsent) {
        const size = JSON.stringify(event).length * 3;
        if (bytes + size > BEACON_MAX_BYTES) sendBatch();
        batch.push(event);
        bytes += size;
      }
      sendBatch();
      try {
        if (left.length > 0) localStorage.setItem(UNSENT_KEY, JSON.stringify(left));
      } catch {
        // Storage is blocked or full.
      }
    }

    on(type, target, handler) {
      target.addEventListener(type, (event) => {
        this.domEvent = event;
        try {
          handler(event);
        } finally {
          this.domEvent = null;
        }
      }, true);
    }

    listen() {
      this.on('click', document, (event) => {
        if (!isElement(event.target)) return;
        const element = event.target;
        this.track('click', {
          ...describe(element),
          elementText: visibleText(element).slice(0, TEXT_MAX),
          parentText: parentText(element),
          selector: selectorOf(element),
          x: event.clientX,
          y: event.clientY,
        });
      });
      const field = (element) => ({
        ...describe(element),
        elementName: element.getAttribute('name') || '',
        inputType: element.type || '',
        valueLength: element.value.length,
      });
      this.on('input', document, (event) => {
        if (isTextField(event.target)) this.track('input', field(event.target));
      });
      this.on('change', document, (event) => {
        const element = event.target;
        if (!(element instanceof HTMLSelectElement)) return;
        this.track('select', {
          ...describe(element),
          elementName: element.name,
          value: element.value,
          selectedText: oneLine(element.selectedOptions[0] && element.selectedOptions[0].text, TEXT_MAX),
        });
      });
      this.on('keydown', document, (event) => {
        if (event.key === 'Enter' && isTextField(event.target)) {
          this.track('keydown_enter', { ...field(event.target), key: event.key, keyCode: event.keyCode });
        }
      });
      this.on('submit', document, (event) => {
        const form = event.target;
        this.track('submit', { formId: form.id || '', formAction: form.getAttribute('action') || '' });
      });
      this.on('popstate', window, () => this.track('navigation', { type: 'popstate', url: location.href }));
      this.listenToScrolling();
      this.listenToHovering();
      window.addEventListener('pagehide', () => this.flush());
      document.addEventListener('visibilitychange', () => {
        if (document.visibilityState === 'hidden') this.flush();
      });
    }

    /** One event when scrolling pauses, of the window and of each inner container. */
    listenToScrolling() {
      const timers = new WeakMap();
      document.addEventListener('scroll', (event) => {
        const target = event.target;
        const inner = isElement(target) && target !== document.documentElement && target !== document.body;
        const box = inner ? target : document.scrollingElement || document.documentElement;
        clearTimeout(timers.get(box));
        timers.set(box, setTimeout(() => {
          const place = { scrollX: box.scrollLeft, scrollY: box.scrollTop, maxScrollY: box.scrollHeight - box.clientHeight };
          const container = inner ? { ...describe(box), selector: selectorOf(box) } : { element: 'window' };
          this.track('scroll', { ...container, ...place, trusted: event.isTrusted });
        }, SCROLL_PAUSE_MS));
      }, true);
    }

    listenToHovering() {
      let timer = 0;
      document.addEventListener('mouseover', (event) => {
        clearTimeout(timer);
        if (!isElement(event.target)) return;
        const element = event.target;
        timer = setTimeout(() => {
          if (!element.isConnected) return;
          this.track('hover', { ...describe(element), selector: selectorOf(element), trusted: event.isTrusted });
        }, HOVER_PAUSE_MS);
      }, true);
    }
  }

  window.AgentTracker = AgentTracker;
})();
