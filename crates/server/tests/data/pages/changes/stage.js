// Elements of every kind in two rows. What they receive is logged with the element's identity, its row and where its
// form is sent. `stage.begin` restores the elements, `stage.change` changes them.
"use strict";
window.makeStage = (root, place) => {
  const container = document.createElement("div");
  const row = (who) => `<li data-id="${who}"><span>${who}</span>
      <button type="button" data-el="button" data-who="${place}/${who}/button">Remove (1)</button>
      <a href="/${who}" data-el="link" data-who="${place}/${who}/link">Open (1)</a>
      <button name="do" value="${who}" data-el="submit" data-who="${place}/${who}/submit">Send (1)</button>
      <div tabindex="0" data-el="div" data-who="${place}/${who}/div">Pick (1)</div>
      <input aria-label="Note" data-el="input" data-who="${place}/${who}/input"></li>`;
  container.innerHTML = `<style>
      .stage { width: 470px; height: 150px; overflow: hidden; font: 14px sans-serif }
      ul { margin: 0; padding: 8px; list-style: none } li { height: 50px; white-space: nowrap }
      span { display: inline-block; width: 50px }
      [data-el] { display: inline-block; box-sizing: border-box; width: 74px; height: 28px; margin: 2px; border: 1px solid #888; cursor: pointer }
      .grid ul { display: grid } .grid li { display: grid; grid-template-columns: 56px repeat(5, 80px) }
      .flex li { display: flex; align-items: center } .scaled { transform: scale(0.9) }
      .scrolled { overflow: auto } .scrolled ul { height: 400px } .placed { position: fixed }
    </style><div class="stage"><form data-form="pay" action="/pay"><ul>${row("alice")}${row("bob")}</ul></form>
      <form id="other" action="/other"></form></div>`;
  root.append(container);
  const area = container.querySelector(".stage");
  const all = [...container.querySelectorAll("[data-el]")];
  const original = new Map(all.map((one) => [one, one.dataset.who]));
  for (const one of all) if (one.dataset.el === "div") one.addEventListener("click", () => (one.dataset.clicked = "1"));

  // What is logged.
  const shared = () => {
    try {
      return (window.top.got ||= []);
    } catch {
      return (window.got ||= []);
    }
  };
  const got = shared();
  const action = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, "action").get;
  const method = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, "method").get;
  const destination = (one) => {
    if (one.localName === "a") return one.href;
    const submits = one.localName === "input" || one.type === "submit";
    if (!one.form || !submits) return "";
    const to = one.getAttribute("formaction") ? one.formAction : action.call(one.form);
    return [to, one.formMethod || method.call(one.form), one.localName === "button" ? `${one.name}=${one.value}` : ""].join(" ");
  };
  const facts = (one) => ({ who: original.get(one) || "another element", row: (one.closest("[data-id]") || { dataset: {} }).dataset.id || "", to: destination(one) });
  const log = (event) => {
    const target = event.composedPath()[0];
    const one = target.closest && target.closest("[data-el], .cover");
    // Enter in a field clicks the first button that sends its form.
    const isImplied = event.type === "click" && event.detail === 0;
    if (one && !isImplied) got.push({ type: event.type, ...facts(one), value: one.value || "" });
    if (event.type === "click" && one && one.localName === "a") event.preventDefault();
    if (fires && fires.type === event.type) fire();
  };
  for (const type of ["pointerover", "mousemove", "pointerdown", "mousedown", "mouseup", "click", "focusin", "input"]) root.addEventListener(type, log, true);
  const onSubmit = (event) => {
    const { target, submitter } = event;
    got.push({ type: "submit", to: submitter && submitter.getAttribute("formaction") ? submitter.formAction : action.call(target) });
    event.preventDefault();
  };
  root.addEventListener("submit", onSubmit, true);
  // Earlier than every listener that is added later.
  for (const type of ["mousemove", "pointerdown", "mousedown"]) addEventListener(type, () => fires && fires.type === `window ${type}` && fire(), true);

  // The elements as they were.
  const keep = (node) => ({ node, attributes: node.attributes ? [...node.attributes].map(({ name, value }) => [name, value]) : null, text: node.nodeType === 3 ? node.data : null, children: [...node.childNodes].map(keep) });
  const restore = (kept) => {
    const { node, attributes, text, children } = kept;
    if (text !== null) node.data = text;
    if (attributes) {
      for (const { name } of [...node.attributes]) if (!attributes.some(([was]) => was === name)) node.removeAttribute(name);
      for (const [name, value] of attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    const now = [...node.childNodes];
    if (now.length !== children.length || children.some((child, index) => child.node !== now[index])) node.replaceChildren(...children.map((child) => child.node));
    children.forEach(restore);
  };
  const pristine = keep(area);
  const extras = [];
  let current = null;
  let fires = null;
  let fired = 0;
  const elementOf = (kind, who = "alice") => all.find((one) => one.dataset.who === `${place}/${who}/${kind}`);

  /** Restores the elements and selects one; returns what is known of it. */
  const begin = (kind, layout) => {
    fires = null;
    for (const extra of extras.splice(0)) extra.remove();
    restore(pristine);
    for (const one of all) if (one.localName === "input") one.value = "";
    if (document.activeElement && document.activeElement !== document.body) document.activeElement.blur();
    area.className = `stage ${layout}`;
    area.scrollTop = layout === "scrolled" ? 6 : 0;
    scrollTo(0, 0);
    const el = elementOf(kind);
    current = { el, twin: elementOf(kind, "bob"), row: el.closest("li"), otherRow: elementOf(kind, "bob").closest("li"), form: area.querySelector("form"), area, root, add };
    got.length = 0;
    return facts(el);
  };
  const add = (node, where = area) => {
    extras.push(node);
    where.append(node);
    return node;
  };
  const change = (name) => window.changes[name](current);
  const fire = () => {
    const { name } = fires;
    fires = null;
    fired++;
    change(name);
  };
  /** Changes the elements at the next event of a type, or after some milliseconds. */
  const changeOn = (name, type, delay) => {
    fires = { name, type };
    if (type === "timer") {
      const mine = fires;
      setTimeout(() => fires === mine && fire(), delay);
    }
  };
  return { begin, change, changeOn, fired: () => fired, facts };
};

/** Places an element at a position of the viewport, also inside something that is scaled. */
const putAt = (el, { left, top, width, height }) => {
  el.style.cssText += `;position:fixed;margin:0;left:0;top:0;width:${width}px;height:${height}px;z-index:9`;
  for (let round = 0; round < 2; round++) {
    const now = el.getBoundingClientRect();
    const scale = now.width / el.offsetWidth || 1;
    el.style.left = `${parseFloat(el.style.left) + (left - now.left) / scale}px`;
    el.style.top = `${parseFloat(el.style.top) + (top - now.top) / scale}px`;
  }
};
const coverOver = (el, add, opacity) => {
  const cover = document.createElement("div");
  cover.className = "cover";
  const box = el.getBoundingClientRect();
  add(cover);
  putAt(cover, box);
  cover.style.background = "#c00";
  cover.style.opacity = opacity;
};
const nameOf = (el, name) => (el.localName === "input" ? el.setAttribute("aria-label", name) : (el.textContent = name));

window.changes = {
  // Another element, another place, another name.
  swapPlaces: ({ el, twin }) => {
    const mark = document.createElement("i");
    el.replaceWith(mark);
    twin.replaceWith(el);
    mark.replaceWith(twin);
  },
  swapPositions: ({ el, twin }) => {
    for (const [one, sign] of [[el, 1], [twin, -1]]) one.style.cssText += `;position:relative;top:${sign * 50}px`;
  },
  swapRows: ({ row, otherRow }) => row.before(otherRow),
  recycleRows: ({ row, otherRow }) => {
    [row.dataset.id, otherRow.dataset.id] = [otherRow.dataset.id, row.dataset.id];
    [row.firstElementChild.textContent, otherRow.firstElementChild.textContent] = [row.dataset.id, otherRow.dataset.id];
  },
  rename: ({ el }) => nameOf(el, "Delete everything"),
  renumber: ({ el }) => nameOf(el, "Remove 2"),
  relabel: ({ el }) => el.setAttribute("aria-label", "Something else"),
  changeRole: ({ el }) => el.setAttribute("role", el.localName === "input" ? "searchbox" : el.localName === "a" ? "button" : "link"),
  replaceByCopy: ({ el }) => el.replaceWith(el.cloneNode(true)),
  remove: ({ el }) => el.remove(),
  insertCopyBefore: ({ el, add }) => {
    const copy = el.cloneNode(true);
    add(copy);
    el.before(copy);
  },
  copyOver: ({ el, add }) => {
    const [copy, box] = [el.cloneNode(true), el.getBoundingClientRect()];
    add(copy);
    putAt(copy, box);
  },
  moveToOtherRow: ({ el, otherRow }) => {
    const box = el.getBoundingClientRect();
    otherRow.append(el);
    putAt(el, box);
  },
  moveOutOfForm: ({ el, area }) => {
    const box = el.getBoundingClientRect();
    area.append(el);
    putAt(el, box);
  },
  moveToOtherFrame: ({ el, add }) => {
    const box = el.getBoundingClientRect();
    const other = window === window.top ? document.getElementById("near").contentDocument : window.parent.document;
    other.body.append(el);
    putAt(el, box);
  },
  // Not to be reached.
  cover: ({ el, add }) => coverOver(el, add, 1),
  coverUnseen: ({ el, add }) => coverOver(el, add, 0),
  openModal: ({ add }) => add(document.createElement("dialog")).showModal(),
  disable: ({ el }) => (el.localName === "a" || el.localName === "div" ? el.setAttribute("aria-disabled", "true") : (el.disabled = true)),
  coverByFrame: ({ el }) => {
    const [frame, box] = [document.getElementById("near"), el.getBoundingClientRect()];
    frame.style.cssText = `position:fixed;z-index:99;left:${box.left - 66}px;top:${box.top - 10}px`;
  },
  focusOther: ({ twin }) => twin.focus(),
  makeInert: ({ row }) => row.setAttribute("inert", ""),
  undisplay: ({ el }) => (el.style.display = "none"),
  hide: ({ el }) => (el.style.visibility = "hidden"),
  letThrough: ({ el }) => (el.style.pointerEvents = "none"),
  moveAway: ({ el }) => (el.style.cssText += ";position:relative;top:30px"),
  // Another destination.
  changeAction: ({ form }) => form.setAttribute("action", "/elsewhere"),
  changeMethod: ({ form }) => form.setAttribute("method", "post"),
  changeFormAction: ({ el }) => el.setAttribute("formaction", "/elsewhere"),
  changeFormMethod: ({ el }) => el.setAttribute("formmethod", "post"),
  changeForm: ({ el }) => el.setAttribute("form", "other"),
  changeBase: ({ add }) => {
    const base = document.createElement("base");
    base.href = "http://elsewhere.invalid/";
    add(base, document.head);
  },
  changeLink: ({ el }) => el.setAttribute("href", "/elsewhere"),
  changeValue: ({ el }) => (el.value = "bob"),
  makeSubmit: ({ el }) => (el.type = "submit"),
  makeButton: ({ el }) => (el.type = "button"),
  // Harmless.
  addClass: ({ el }) => el.classList.add("is-hovered"),
  count: ({ el }) => (el.textContent = el.textContent.replace("(1)", "(27)")),
  addState: ({ el }) => (el.dataset.state = "open"),
  renameOther: ({ twin }) => nameOf(twin, "Something else"),
  moveLittle: ({ el }) => (el.style.cssText += ";position:relative;left:9px;top:7px"),
  paint: ({ el }) => (el.style.background = "#ffc"),
  addRow: ({ row, add }) => add(document.createElement("li"), row.parentNode).append("carol"),
  writeAgain: ({ el }) => nameOf(el, el.localName === "input" ? "Note" : el.textContent),
  coverName: ({ form, add }) => (add(document.createElement("input"), form).name = "action"),
  changeOtherForm: ({ root }) => root.querySelector("#other").setAttribute("action", "/elsewhere"),
};
