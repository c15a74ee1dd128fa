/** CloudStack: frame of the console: header, list of all services, search, notifications, side bar. */
(function () {
  'use strict';
  const { find, findAll, build, icon, logo, read, write, escape, day, consoleLink, CATEGORIES, PRODUCTS } = window.cloud;

  const SIDE = [
    ['', [['console.html', 'Console home', '']]],
    ['Pinned', [['ecs.html', 'ECS instances', 'ecs'], ['rds.html', 'RDS databases', 'rds'], ['oss.html', 'OSS buckets', 'oss'], ['vpc.html', 'VPC networks', 'vpc'], ['slb.html', 'Load balancers', 'slb'], ['cms.html', 'Monitoring', 'cms']]],
    ['Account', [['budget.html', 'Budgets', 'bgt']]],
  ];
  const NOTES = [
    ['invoice', 'Your invoice is available', -1, 'The invoice of last month, 4,812.40 credits, is charged automatically in ten days.'],
    ['westport', 'Planned maintenance in Westport', -1, `Zone B of Westport is serviced from ${day(6)} to ${day(8)}. New instances should be created in zone A or C.`],
    ['backup', 'Backup finished: orders-primary', -2, 'The nightly backup took 14 minutes and was copied to Northlake.'],
    ['midland', 'Planned maintenance in Midland', -2, `Zone A of Midland is serviced from ${day(5)} to ${day(9)}. Do not place new instances there; other zones of the region are not affected.`],
    ['keys', 'Two access keys are older than a year', -4, 'Rotate the keys of build-agent and metrics-export under Access.'],
    ['family', 'Sixth generation of memory instances', -4, 'The family r6 is available in all regions, for general workloads as well.'],
  ];

  const here = location.pathname.split('/').pop();
  const current = document.body.dataset.nav || here;
  const readNotes = () => read(localStorage, 'cloud.notes', []);
  const unread = () => NOTES.filter(([id]) => !readNotes().includes(id)).length;

  const header = () => `<header class="con-top">
    <a class="brand" href="index.html">${logo}<span class="wide-only">CloudStack</span></a>
    <button type="button" id="all-services" aria-expanded="false">${icon('grid', 15)}All services</button>
    <div class="con-search"><input id="service-search" type="search" placeholder="Search services" aria-label="Search services" autocomplete="off"><div class="drop" hidden></div></div>
    <span class="grow"></span>
    <button type="button" class="icon" id="notification-toggle" aria-expanded="false" aria-label="Notifications">${icon('bell')}<span class="badge"></span></button>
    <a href="support.html" class="help" aria-label="Support">${icon('help')}</a>
    <span class="small wide-only">team-harbor</span>
  </header>`;

  const side = () => `<nav class="con-side" aria-label="Console">${SIDE.map(([title, links]) => (title ? `<b>${title}</b>` : '')
    + links.map(([page, name, code]) => `<a href="${page}" ${code ? `data-console="${code}"` : ''} ${page === current ? 'aria-current="page"' : ''}>${name}</a>`).join('')).join('')}</nav>`;

  const mega = () => `<div class="mega" id="service-menu" hidden><div class="mega-cols">${CATEGORIES.map((name) => `<div><h3>${name}</h3>${PRODUCTS.filter((entry) => entry.category === name).map((entry) => consoleLink(entry, entry.name)).join('')}</div>`).join('')}</div></div>`;

  const notes = () => NOTES.map(([id, title, age, text]) => `<article class="note ${readNotes().includes(id) ? 'read' : ''}" data-note="${id}">
    <button type="button" aria-expanded="false"><span class="dot"></span><span class="title">${title}</span><span class="small soft">${day(age)}</span></button><p hidden>${text}</p></article>`).join('');
  const drawer = () => `<aside class="drawer" id="notification-panel" aria-label="Notifications" hidden>
    <div class="drawer-head"><h2>Notifications</h2><button type="button" class="plain" id="mark-read">Mark all as read</button><button type="button" class="icon" id="notification-close" aria-label="Close">${icon('close')}</button></div>
    <div class="drawer-body">${notes()}</div></aside>`;

  const main = find('main');
  main.classList.add('con-main');
  const frame = build('<div class="con"></div>');
  main.replaceWith(frame);
  frame.append(build(side()), main);
  document.body.prepend(build(header()), build(mega()));
  document.body.append(build(drawer()));

  function drawBadge() {
    const count = unread();
    find('.con-top .badge').textContent = String(count);
    find('.con-top .badge').hidden = count === 0;
  }

  function toggleMenu(open) {
    find('#service-menu').hidden = !open;
    find('#all-services').setAttribute('aria-expanded', String(open));
    tracker.track('service_menu_toggle', { open });
  }

  function toggleNotes(open, method) {
    find('#notification-panel').hidden = !open;
    find('#notification-toggle').setAttribute('aria-expanded', String(open));
    tracker.track('notification_panel_toggle', { open, method });
  }

  function markRead(ids) {
    write(localStorage, 'cloud.notes', [...new Set([...readNotes(), ...ids])]);
    findAll('.note').forEach((note) => note.classList.toggle('read', readNotes().includes(note.dataset.note)));
    drawBadge();
  }

  function toggleNote(note) {
    const text = find('p', note);
    text.hidden = !text.hidden;
    find('button', note).setAttribute('aria-expanded', String(!text.hidden));
    if (text.hidden) return;
    markRead([note.dataset.note]);
    tracker.track('notification_open', { notificationId: note.dataset.note });
  }

  function searchServices(field) {
    const drop = find('.con-search .drop');
    const words = field.value.trim().toLowerCase();
    const hits = PRODUCTS.filter((entry) => `${entry.code} ${entry.name}`.toLowerCase().includes(words));
    drop.hidden = !words;
    drop.innerHTML = hits.length
      ? hits.slice(0, 8).map((entry) => consoleLink(entry, `<b class="mono">${entry.code}</b> ${entry.name}`)).join('')
      : `<p class="small soft" style="padding:6px 10px">No service matches “${escape(field.value.trim())}”.</p>`;
  }

  find('#all-services').addEventListener('click', () => toggleMenu(find('#service-menu').hidden));
  find('#notification-toggle').addEventListener('click', () => toggleNotes(find('#notification-panel').hidden, 'bell'));
  find('#notification-close').addEventListener('click', () => toggleNotes(false, 'close'));
  find('#mark-read').addEventListener('click', () => {
    markRead(NOTES.map(([id]) => id));
    tracker.track('notifications_mark_read', {});
  });
  findAll('.note').forEach((note) => find('button', note).addEventListener('click', () => toggleNote(note)));
  find('#service-search').addEventListener('input', (event) => searchServices(event.target));
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.con-search')) find('.con-search .drop').hidden = true;
    if (!find('#service-menu').hidden && !event.target.closest('#service-menu, #all-services')) toggleMenu(false);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    if (!find('#service-menu').hidden) toggleMenu(false);
    else if (!find('#notification-panel').hidden) toggleNotes(false, 'escape');
  });

  drawBadge();
})();
