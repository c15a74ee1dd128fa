/** DataFlow: quarter reports, their actions, and the list of exports. */
(function () {
  'use strict';
  const { find, build, svg, state, save, toast } = window.flow;
  const { YEARS, QUARTERS, money, details, months } = window.flowData;
  const FORMATS = [['csv', 'CSV'], ['pdf', 'PDF'], ['sheet', 'Spreadsheet']];
  const WHOLE = 'all';

  const ACTIONS = [
    ['pin', '<path d="M9 3h6l-1 7 4 4H6l4-4zM12 14v7"/>'],
    ['share', '<circle cx="6" cy="12" r="2.5"/><circle cx="18" cy="6" r="2.5"/><circle cx="18" cy="18" r="2.5"/><path d="M8.3 11l7.4-4M8.3 13l7.4 4"/>'],
    ['archive', '<path d="M3 4h18v5H3zM5 9v11h14V9M10 13h4"/>'],
    ['export', '<path d="M12 15V3M7.5 7.5L12 3l4.5 4.5M4 14v6h16v-6"/>'],
    ['print', '<path d="M7 8V3h10v5M7 17H3V8h18v9h-4M7 14h10v7H7z"/>'],
  ];

  const keyOf = (year, quarter) => `${year} ${quarter}`;
  const titleOf = (year, quarter) => (quarter === WHOLE ? `Dashboard, ${YEARS[year].toLowerCase()}` : `${quarter}, ${YEARS[year].toLowerCase()}`);

  /** Saves, and reports the downloads and marks as they are now. */
  function saveAndReport() {
    save();
    const { exports, pinned, archived } = state;
    const only = exports.length === 1 ? exports[0] : {};
    tracker.track('reports_state', {
      exports: exports.length, quarter: only.quarter || '', year: only.year || '', format: only.format || '', kept: Boolean(only.kept),
      pinned: pinned.length, archived: archived.length,
    });
  }

  function addExport(year, quarter, format) {
    state.exports = state.exports.filter((entry) => entry.year !== year || entry.quarter !== quarter || entry.format !== format);
    state.exports.push({ year, quarter, format, kept: false });
    if (quarter === WHOLE) tracker.track('export_click', { scope: 'dashboard', year });
    else tracker.track('report_export', { quarter, year, format });
    saveAndReport();
  }

  function toggle(list, key) {
    const on = !state[list].includes(key);
    state[list] = on ? [...state[list], key] : state[list].filter((other) => other !== key);
    return on;
  }

  function body(year, quarter) {
    const { value, orders, refunds, average, margin } = details(year, quarter);
    const figure = (name, text) => `<div class="figure"><span class="soft small">${name}</span><b>${text}</b></div>`;
    const parts = months(year).slice(QUARTERS.indexOf(quarter) * 3, QUARTERS.indexOf(quarter) * 3 + 3);
    return `<div class="actions" id="report-actions">${ACTIONS.map(([name, shapes], i) => `<button type="button" class="icon" data-i="${i}">${svg(shapes)}</button>`).join('')}</div>
      <div class="grid three">${figure('Revenue', money(value))}${figure('Orders', orders.toLocaleString('en-US'))}${figure('Refunds', money(refunds))}</div>
      <table><thead><tr><th>Month</th><th class="num">Revenue</th><th class="num">Share</th></tr></thead><tbody>${parts.map((part) => `<tr><td>${part.name}</td><td class="num">${money(part.value)}</td><td class="num">${(part.value / value * 100).toFixed(0)} %</td></tr>`).join('')}</tbody></table>
      <p class="soft small" style="margin-top:12px">Average order ${money(average)}, margin ${margin.toFixed(1)} %. Figures are final.</p>`;
  }

  function showFormats(bar, year, quarter) {
    const open = find('.menu', bar);
    if (open) return open.remove();
    const menu = build(`<div class="menu" role="menu">${FORMATS.map(([format, label]) => `<button type="button" role="menuitem" data-format="${format}">${label}</button>`).join('')}</div>`);
    menu.addEventListener('click', (event) => {
      const { format } = event.target.dataset;
      if (!format) return;
      addExport(year, quarter, format);
      menu.remove();
      toast('Export is ready in your downloads');
    });
    bar.append(menu);
  }

  function act(name, bar, button, year, quarter) {
    const key = keyOf(year, quarter);
    if (name === 'export') return showFormats(bar, year, quarter);
    if (name === 'pin') {
      const pinned = toggle('pinned', key);
      button.classList.toggle('on', pinned);
      tracker.track('report_pin', { quarter, year, pinned });
      saveAndReport();
      toast(pinned ? 'Report pinned' : 'Report unpinned');
    } else if (name === 'archive') {
      const archived = toggle('archived', key);
      button.classList.toggle('on', archived);
      tracker.track('report_archive', { quarter, year, archived });
      saveAndReport();
      toast(archived ? 'Report archived' : 'Report restored');
    } else {
      tracker.track(`report_${name}`, { quarter, year });
      toast(name === 'share' ? 'Link copied' : 'Sent to the office printer');
    }
  }

  function openReport(year, quarter, source) {
    const { dialog } = window.flowModal('report', `${quarter} report · ${YEARS[year]}`, body(year, quarter), { big: true, data: { quarter, year } });
    tracker.track('quarter_detail_open', { quarter, year, source });
    const bar = find('#report-actions', dialog);
    const mark = (index, list) => find(`[data-i="${index}"]`, bar).classList.toggle('on', state[list].includes(keyOf(year, quarter)));
    mark(0, 'pinned');
    mark(2, 'archived');
    bar.addEventListener('click', (event) => {
      const button = event.target.closest('[data-i]');
      if (button) act(ACTIONS[Number(button.dataset.i)][0], bar, button, year, quarter);
    });
  }

  const label = (format) => FORMATS.find(([name]) => name === format)[1];
  function exportList() {
    if (state.exports.length === 0) return '<p class="soft">No exports yet.</p>';
    return `<p class="soft small">Exports are deleted after 24 hours unless they are kept.</p><ul class="list">${state.exports.map((entry, i) => `<li><span class="grow">${titleOf(entry.year, entry.quarter)}<small>${label(entry.format)}</small></span>
      <button type="button" data-keep="${i}" aria-pressed="${entry.kept}">${entry.kept ? 'Kept' : 'Keep'}</button><button type="button" data-remove="${i}">Remove</button></li>`).join('')}</ul>`;
  }

  function changeExport(target) {
    const index = Number(target.dataset.keep ?? target.dataset.remove);
    const entry = state.exports[index];
    const { quarter, year, format } = entry;
    if (target.dataset.keep !== undefined) {
      entry.kept = !entry.kept;
      tracker.track('export_keep', { quarter, year, format, kept: entry.kept });
    } else {
      state.exports.splice(index, 1);
      tracker.track('export_remove', { quarter, year, format });
    }
    saveAndReport();
  }

  function bindExports(dialog) {
    const box = find('.dialog-body', dialog);
    box.addEventListener('click', (event) => {
      const target = event.target.closest('[data-keep], [data-remove]');
      if (!target) return;
      changeExport(target);
      box.innerHTML = exportList();
    });
  }

  window.flowReports = { WHOLE, openReport, addExport, exportList, bindExports };
})();
