/** CloudStack: lists of resources with search, state filter, pages and actions per row. */
(function () {
  'use strict';
  const { find, findAll, escape, build, toast } = window.cloud;
  const PAGE_SIZE = 8;
  const TONES = {
    Running: 'good', Available: 'good', Active: 'good', Healthy: 'good', Standard: 'good', OK: 'good', Enabled: 'good',
    Stopped: 'grey', Disabled: 'grey', Archive: 'grey', Infrequent: '', Degraded: 'warn', Maintenance: 'warn', Alert: 'bad', Over: 'bad', Near: 'warn',
  };

  const state = (text) => `<span class="tag ${TONES[text] || ''}">${escape(text)}</span>`;

  /**
   * `columns`: {key, label, kind?: 'state'|'num'|'mono'|'link'}; `actions(row)`: labels of buttons of a row;
   * `onAction(row, label)`: changes the row and returns the text to show.
   */
  function resourceList(mount, { columns, rows, actions, onAction, stateKey = 'state', noun }) {
    const box = typeof mount === 'string' ? find(mount) : mount;
    const view = { words: '', state: '', page: 0 };
    const states = [...new Set(rows.map((row) => row[stateKey]).filter(Boolean))];
    const bar = build(`<div class="list-bar"><input type="search" aria-label="Search ${noun}" placeholder="Search ${noun}">
      ${states.length > 1 ? `<select aria-label="State"><option value="">All states</option>${states.map((name) => `<option>${name}</option>`).join('')}</select>` : ''}
      <span class="soft small" role="status"></span></div>`);
    const table = build('<div class="scroll"></div>');
    const pager = build('<div class="pager"><button type="button" data-step="-1">Previous</button><span></span><button type="button" data-step="1">Next</button></div>');
    box.replaceChildren(bar, table, pager);

    const cell = (row, { key, kind }) => {
      const text = row[key] ?? '';
      if (kind === 'state') return `<td>${state(text)}</td>`;
      if (kind === 'link') return `<td><b>${escape(text)}</b><br><span class="mono soft">${escape(row.id)}</span></td>`;
      return `<td class="${kind || ''}">${escape(text)}</td>`;
    };
    const buttons = (row) => (actions ? `<td>${actions(row).map((label) => `<button type="button" class="plain" data-id="${escape(row.id)}" data-action="${label}" aria-label="${label} ${escape(row.name)}">${label}</button>`).join('')}</td>` : '');

    function shown() {
      return rows.filter((row) => (!view.state || row[stateKey] === view.state)
        && columns.some(({ key }) => `${row[key] ?? ''} ${row.id}`.toLowerCase().includes(view.words)));
    }

    function draw() {
      const hits = shown();
      const pages = Math.max(1, Math.ceil(hits.length / PAGE_SIZE));
      view.page = Math.min(view.page, pages - 1);
      const slice = hits.slice(view.page * PAGE_SIZE, (view.page + 1) * PAGE_SIZE);
      table.innerHTML = `<table><thead><tr>${columns.map(({ label, kind }) => `<th class="${kind === 'num' ? 'num' : ''}">${label}</th>`).join('')}${actions ? '<th>Actions</th>' : ''}</tr></thead>
        <tbody>${slice.map((row) => `<tr>${columns.map((column) => cell(row, column)).join('')}${buttons(row)}</tr>`).join('') || `<tr><td colspan="9" class="empty">Nothing matches.</td></tr>`}</tbody></table>`;
      find('[role=status]', bar).textContent = `${hits.length} of ${rows.length}`;
      find('span', pager).textContent = `Page ${view.page + 1} of ${pages}`;
      const [back, next] = findAll('button', pager);
      back.disabled = view.page === 0;
      next.disabled = view.page >= pages - 1;
      pager.hidden = pages === 1;
    }

    find('input', bar).addEventListener('input', (event) => {
      view.words = event.target.value.trim().toLowerCase();
      view.page = 0;
      draw();
    });
    const select = find('select', bar);
    if (select) select.addEventListener('change', () => {
      view.state = select.value;
      view.page = 0;
      draw();
    });
    pager.addEventListener('click', (event) => {
      view.page += Number(event.target.dataset.step || 0);
      draw();
    });
    table.addEventListener('click', (event) => {
      const button = event.target.closest('[data-action]');
      if (!button) return;
      const row = rows.find(({ id }) => id === button.dataset.id);
      const answer = onAction(row, button.dataset.action);
      draw();
      if (answer) toast(answer);
    });
    draw();
    return { draw };
  }

  window.cloud.resourceList = resourceList;
  window.cloud.stateTag = state;
})();
