/** DataFlow: navigation, tabs, year filter, search and widgets. */
(function () {
  'use strict';
  const { find, escape, state, save, toast } = window.flow;
  const { YEARS } = window.flowData;
  const { TABS, WORKSPACES } = window.flowPages;
  const { WHOLE, openReport, addExport } = window.flowReports;
  const WIDGETS = ['Stock level', 'Delivery times', 'Advertising'];

  const view = { workspace: 'dashboard', tab: 'overview', year: 'current' };
  const main = find('#workspace');

  const dashboard = () => `<div class="head"><h1>Good to see you, Robin</h1>
      <select id="year-filter" aria-label="Year">${Object.entries(YEARS).map(([year, name]) => `<option value="${year}" ${year === view.year ? 'selected' : ''}>${name}</option>`).join('')}</select>
      <button type="button" id="export-dashboard">Export</button><button type="button" class="primary" id="add-widget">Add widget</button></div>
    <div class="tabs" role="tablist" aria-label="Dashboard">${Object.entries(TABS).map(([tab, [name]]) => `<button type="button" role="tab" data-tab="${tab}" aria-selected="${tab === view.tab}">${name}</button>`).join('')}</div>
    <div role="tabpanel">${TABS[view.tab][1](view.year, state.widgets)}</div>`;

  function draw() {
    find('#workspaces').innerHTML = Object.entries(WORKSPACES).map(([name, [label]]) => `<button type="button" data-workspace="${name}" ${name === view.workspace ? 'aria-current="page"' : ''}>${label}</button>`).join('');
    const page = WORKSPACES[view.workspace][1];
    main.innerHTML = page ? page() : dashboard();
  }

  function openWorkspace(workspace) {
    if (workspace === view.workspace) return;
    view.workspace = workspace;
    view.tab = 'overview';
    tracker.track('workspace_switch', { workspace });
    draw();
  }

  function openTab(tab) {
    if (tab === view.tab && view.workspace === 'dashboard') return;
    view.tab = tab;
    view.workspace = 'dashboard';
    tracker.track('tab_click', { tab });
    draw();
    find(`[data-tab="${tab}"]`).focus();
  }

  function addWidget() {
    tracker.track('add_widget_click', {});
    const free = WIDGETS.filter((name) => !state.widgets.includes(name));
    const { dialog, close } = window.flowModal('widget', 'Add widget', free.length
      ? `<div class="row">${free.map((name) => `<button type="button" data-widget="${name}">${name}</button>`).join('')}</div>` : '<p class="soft">All widgets are on the dashboard.</p>');
    dialog.addEventListener('click', (event) => {
      const { widget } = event.target.dataset;
      if (!widget) return;
      state.widgets.push(widget);
      save();
      tracker.track('widget_add', { widget });
      close('done');
      draw();
    });
  }

  function exportDashboard() {
    addExport(view.year, WHOLE, 'pdf');
    toast('Export is ready in your downloads');
  }

  main.addEventListener('click', (event) => {
    const target = event.target.closest('button');
    if (!target) return;
    const { tab, quarter, report } = target.dataset;
    if (tab) openTab(tab);
    else if (quarter) {
      tracker.track('chart_bar_click', { quarter, year: view.year });
      openReport(view.year, quarter, 'chart');
    } else if (report) openReport('current', report, 'reports');
    else if (target.id === 'add-widget') addWidget();
    else if (target.id === 'export-dashboard') exportDashboard();
  });

  main.addEventListener('change', (event) => {
    if (event.target.id !== 'year-filter') return;
    view.year = event.target.value;
    tracker.track('year_filter_change', { year: view.year });
    draw();
    find('#year-filter').focus();
  });

  find('#workspaces').addEventListener('click', (event) => {
    const { workspace } = event.target.dataset;
    if (workspace) openWorkspace(workspace);
  });

  const PLACES = [
    ...Object.entries(TABS).map(([tab, [name]]) => [name, () => openTab(tab)]),
    ...Object.entries(WORKSPACES).map(([workspace, [name]]) => [name, () => openWorkspace(workspace)]),
  ];
  const results = find('#search-results');

  find('#search-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const query = find('#search-input').value.trim();
    if (!query) return;
    const hits = PLACES.map(([name], i) => [name, i]).filter(([name]) => name.toLowerCase().includes(query.toLowerCase()));
    tracker.track('search', { query, results: hits.length });
    results.innerHTML = hits.map(([name, i]) => `<button type="button" data-place="${i}">${name}</button>`).join('') || `<p class="soft">Nothing found for “${escape(query)}”.</p>`;
    results.hidden = false;
  });
  results.addEventListener('click', (event) => {
    const { place } = event.target.dataset;
    if (place === undefined) return;
    results.hidden = true;
    PLACES[Number(place)][1]();
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('#search-form')) results.hidden = true;
  });
  draw();
})();
