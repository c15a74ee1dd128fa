// Tables: data or layout, with their rows and cells.
// Uses: drawing, node, role, state.

const isTableKind = (kind) => kind === "table" || kind === "grid" || kind === "treegrid" || kind === "LayoutTable";
const isRowKind = (kind) => kind === "row" || kind === "LayoutTableRow";

// The nearest ancestor with a role in a table.
function tableAncestor(element) {
  for (let up = parentElementOf(element); up; up = parentElementOf(up)) {
    let kind = kindOf(up);
    if (kind === "generic") kind = kindByStyle(up);
    if (kind !== "generic" && kind !== "group" && kind !== "rowgroup") return up;
  }
  return null;
}

function kindInTable(element) {
  const kind = kindOf(element);
  return kind === "generic" ? kindByStyle(element) : kind;
}

function rowKind(element) {
  const table = tableAncestor(element);
  const kind = table && kindInTable(table);
  if (!kind || !isTableKind(kind)) return "generic";
  return kind === "LayoutTable" ? "LayoutTableRow" : "row";
}

function sectionKind(element) {
  const table = tableAncestor(element);
  const kind = table && kindInTable(table);
  return kind && isTableKind(kind) && kind !== "LayoutTable" ? "rowgroup" : "generic";
}

function cellKind(element, tag) {
  const row = tableAncestor(element);
  const kind = row && kindInTable(row);
  if (!kind || !isRowKind(kind)) return "generic";
  const table = tableAncestor(row);
  if (!table || !isTableKind(kindInTable(table))) return "generic";
  if (kind === "LayoutTableRow") return "LayoutTableCell";
  return tag === "th" ? headerKind(element) : "cell";
}

function headerKind(cell) {
  const scope = (attr(cell, "scope") || "").toLowerCase();
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (scope === "col" || scope === "colgroup") return "columnheader";
  const next = GET_NEXT.call(cell);
  const previous = GET_PREVIOUS.call(cell);
  if (!next && !previous) return "columnheader";
  if (isHeaderCell(next) && isHeaderCell(previous)) return "columnheader";
  if (isFilledCell(next) || isFilledCell(previous)) return "rowheader";
  const row = GET_PARENT.call(cell);
  if (!(row instanceof HTMLTableRowElement)) return "columnheader";
  const first = GET_FIRST_ELEMENT.call(row);
  const last = GET_LAST_ELEMENT.call(row);
  if (isFilledCell(first) || isFilledCell(last)) return "rowheader";
  return isFilledCell(GET_NEXT_ELEMENT.call(first)) || isFilledCell(GET_PREVIOUS_ELEMENT.call(last))
    ? "rowheader"
    : "columnheader";
}

const isHeaderCell = (node) => node instanceof HTMLTableCellElement && nameOfTag(node) === "th";
const isFilledCell = (node) => node instanceof HTMLTableCellElement && nameOfTag(node) === "td" && !!firstOf(node);

const GET_ROWS = getterOf(HTMLTableElement.prototype, "rows");
const GET_CELLS = getterOf(HTMLTableRowElement.prototype, "cells");
const GET_CAPTION = getterOf(HTMLTableElement.prototype, "caption");
const GET_HEAD = getterOf(HTMLTableElement.prototype, "tHead");
const GET_FOOT = getterOf(HTMLTableElement.prototype, "tFoot");
const GET_ELEMENT_WIDTH = getterOf(HTMLElement.prototype, "offsetWidth");
const GET_ELEMENT_HEIGHT = getterOf(HTMLElement.prototype, "offsetHeight");

/** Whether a <table> contains data; others only position their cells. The criteria are Chromium's. */
function isDataTable(table) {
  if (!isConnected(table) || shownOf(table) === GONE) return true;
  if (attr(table, "role") !== null || GET_EDITABLE.call(table)) return true;
  if (attr(table, "summary") || GET_HEAD.call(table) || GET_FOOT.call(table) || GET_CAPTION.call(table)) return true;
  if (attr(table, "rules")) return true;
  for (let child = GET_FIRST_ELEMENT.call(table); child; child = GET_NEXT_ELEMENT.call(child)) {
    if (child instanceof HTMLTableColElement) return true;
  }
  const rows = GET_ROWS.call(table);
  const count = rows.length;
  if (count >= 20) return true;
  if (count <= 0) return false;
  if (count === 1 && GET_CELLS.call(rows[0]).length === 1) return false;
  for (let r = 0; r < count; r++) {
    for (let cell = GET_FIRST_ELEMENT.call(rows[r]); cell; cell = GET_NEXT_ELEMENT.call(cell)) {
      if (!(cell instanceof HTMLTableCellElement)) continue;
      if (nameOfTag(cell) === "th" || attr(cell, "headers") || attr(cell, "abbr") || attr(cell, "axis") || attr(cell, "scope")) {
        return true;
      }
    }
  }
  return looksLikeData(table, rows, count);
}

// By the appearance of the cells: borders, background colours, striped rows.
function looksLikeData(table, rows, count) {
  const style = getComputedStyle(table);
  const background = style.backgroundColor;
  const spacing = style.borderCollapse !== "collapse" && !/(^|\s)0px/.test(style.borderSpacing);
  let valid = 0;
  let bordered = 0;
  let coloured = 0;
  let top = 0;
  let bottom = 0;
  let left = 0;
  let right = 0;
  const stripes = [];
  for (let r = 0; r < count; r++) {
    const cells = GET_CELLS.call(rows[r]);
    for (let c = 0; c < cells.length; c++) {
      const cell = cells[c];
      if (GET_ELEMENT_WIDTH.call(cell) < 1 || GET_ELEMENT_HEIGHT.call(cell) < 1) continue;
      valid++;
      const look = getComputedStyle(cell);
      if (look.emptyCells === "hide") return true;
      const t = parseFloat(look.borderTopWidth) > 0;
      const b = parseFloat(look.borderBottomWidth) > 0;
      const l = parseFloat(look.borderLeftWidth) > 0;
      const s = parseFloat(look.borderRightWidth) > 0;
      if ((t && b) || (l && s)) bordered++;
      if (t) top++;
      if (b) bottom++;
      if (l) left++;
      if (s) right++;
      const colour = look.backgroundColor;
      if (spacing && colour !== background && !isTransparent(colour)) coloured++;
      if (bordered >= 10 || coloured >= 10) return true;
      if (r < 5 && r === stripes.length) stripes.push(getComputedStyle(rows[r]).backgroundColor);
    }
  }
  if (valid <= 1) return false;
  const half = Math.floor(valid / 2);
  if (Math.max(bordered, top, bottom, left, right, coloured) >= half) return true;
  if (stripes.length <= 2) return false;
  for (let k = 1; k < stripes.length; k++) {
    if ((stripes[k] === stripes[0]) === (k % 2 === 1)) return false;
  }
  return true;
}

const isTransparent = (colour) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);
