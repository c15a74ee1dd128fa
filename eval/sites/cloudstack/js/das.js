/** CloudStack DAS: header, menu and overview of the advisory service. */
(function () {
  'use strict';
  const { find, findAll, toast } = window.cloud;

  const DATABASES = [['orders-primary', 41, 78, 'Available'], ['orders-standby', 12, 78, 'Available'], ['catalog-primary', 33, 61, 'Available'], ['catalog-replica', 57, 61, 'Degraded'], ['accounts', 18, 31, 'Available'], ['reporting', 64, 84, 'Available'], ['staging', 2, 30, 'Available']];
  const MENU = ['Overview', 'Instances', 'Performance', 'Slow statements', 'Sessions', 'Lock analysis', 'Index advice', 'Capacity', 'Settings check', 'Statement audit', 'Backups', 'Reports', 'Alert rules', 'DAS Agent', 'Schedules', 'Preferences'];
  const draw = (shapes) => `<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">${shapes}</svg>`;
  const ICONS = [
    ['🔍', draw('<circle cx="8.5" cy="8.5" r="5" fill="#cde8f5" stroke="#41545c" stroke-width="2"/><path d="M12.5 12.5l5 5" stroke="#8a5a32" stroke-width="3" stroke-linecap="round"/>'), 'Search covers the last seven days.'],
    ['🔔', draw('<path d="M10 2a5 5 0 0 0-5 5c0 5-2 6.5-2 7.5h14c0-1-2-2.5-2-7.5a5 5 0 0 0-5-5z" fill="#f4b73f"/><path d="M8 15.5a2 2 0 0 0 4 0z" fill="#b87b15"/>'), 'No new alerts.'],
    ['📊', draw('<rect x="2" y="2" width="16" height="16" rx="3" fill="#eef3f5"/><rect x="4.5" y="9" width="3" height="7" fill="#3aa35b"/><rect x="8.5" y="5" width="3" height="11" fill="#d9503f"/><rect x="12.5" y="11" width="3" height="5" fill="#3d7fd1"/>'), 'The weekly report is prepared on Mondays.'],
    ['🤖', draw('<path d="M10 1v4" stroke="#5d6f78" stroke-width="2"/><rect x="3" y="5" width="14" height="12" rx="3" fill="#9fb4bd"/><circle cx="7.2" cy="10" r="1.7" fill="#d9412d"/><circle cx="12.8" cy="10" r="1.7" fill="#d9412d"/><path d="M7 14h6" stroke="#41545c" stroke-width="1.5"/>'), ''],
    ['⚙️', draw('<path d="M8.7 1h2.6l.4 2.3 1.9.9 2-1.2 1.8 1.9-1.2 2 .8 1.8 2.3.5v2.6l-2.3.5-.8 1.9 1.2 1.9-1.8 1.9-2-1.3-1.9.8-.4 2.5H8.7l-.5-2.4-1.8-.9-2 1.3-1.8-1.9 1.2-2-.8-1.8-2.3-.5V9.3L3 8.8l.8-1.9-1.2-1.9L4.4 3l2 1.2 1.8-.9z" transform="scale(.95)" fill="#8494a0"/><circle cx="9.5" cy="10" r="3" fill="#fff"/>'), 'Settings belong to the owner of the workspace.'],
    ['🌐', draw('<circle cx="10" cy="10" r="7.5" fill="#bfe0f2" stroke="#2f7fb0" stroke-width="1.3"/><path d="M2.5 10h15M10 2.5c4 4 4 11 0 15M10 2.5c-4 4-4 11 0 15" fill="none" stroke="#2f7fb0" stroke-width="1.3"/>'), 'The console is available in English.'],
    ['❓', draw('<path d="M6.5 6.5a3.5 3.5 0 1 1 5.5 3c-1.4 1-2 1.6-2 3" fill="none" stroke="#d03a35" stroke-width="3"/><circle cx="10" cy="16.5" r="1.8" fill="#d03a35"/>'), 'The guide is part of the documentation.'],
  ];
  const SLOW = [['SELECT … FROM orders JOIN lines USING (order_id) WHERE state = ?', 'orders-primary', '2.41 s', '1,204'], ['UPDATE stock SET free = free - ? WHERE sku = ?', 'catalog-primary', '1.87 s', '388'], ['SELECT count(*) FROM events WHERE day BETWEEN ? AND ?', 'reporting', '9.30 s', '61'], ['DELETE FROM sessions WHERE expires < ?', 'accounts', '1.12 s', '24']];

  /** Seeded numbers for the chart, so that a run can be repeated. */
  function numbers(count) {
    let value = window.evalRun.seed || 1;
    return Array.from({ length: count }, () => {
      value = (value * 1103515245 + 12345) % 2147483648;
      return value / 2147483648;
    });
  }

  function chart() {
    const points = numbers(48).map((value, i) => [i * 14 + 4, 150 - 60 * Math.abs(Math.sin(i / 9)) - value * 34]);
    const path = points.map(([x, y]) => `${x},${y.toFixed(1)}`).join(' ');
    return `<svg viewBox="0 0 670 180" preserveAspectRatio="none" role="img" aria-label="Load over the last day"><g stroke="#e6edef"><path d="M0 30h670M0 70h670M0 110h670M0 150h670"/></g>
      <polygon points="4,170 ${path} 662,170" fill="#d7eef1"/><polyline points="${path}" fill="none" stroke="#0a7486" stroke-width="2"/></svg>`;
  }

  const table = (heads, rows) => `<table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map((cell, i) => `<td class="${i ? '' : 'mono'}">${cell}</td>`).join('')}</tr>`).join('')}</tbody></table>`;

  find('#das-database').innerHTML = `<option>All databases</option>${DATABASES.map(([name]) => `<option>${name}</option>`).join('')}`;
  find('#das-menu').innerHTML = MENU.map((name, i) => `<button type="button" class="menu-item ${i ? '' : 'active'}">${name}</button>`).join('');
  find('#das-icons').innerHTML = ICONS.map(([sign, picture, text], i) => `<button type="button" ${text ? `data-i="${i}"` : 'id="das-agent-toggle" aria-expanded="false"'}>${picture}<span class="sr">${sign}</span></button>`).join('');
  find('#das-tiles').innerHTML = [['Databases', '7'], ['Sessions', '412'], ['Queries a second', '3,180'], ['Cache hits', '98.2 %'], ['Slow today', '212'], ['Findings', '4']].map(([name, value]) => `<div><span>${name}</span><b>${value}</b></div>`).join('');
  find('#das-chart').innerHTML = chart();
  find('#das-findings').innerHTML = [['catalog-replica is 4 s behind', 'warn', 'Delay'], ['reporting: disk fills in 19 days', 'warn', 'Capacity'], ['Missing index on lines.order_id', '', 'Index'], ['accounts: 3 unused indexes', 'grey', 'Hint']].map(([text, tone, kind]) => `<li><span>${text}</span><span class="tag ${tone}">${kind}</span></li>`).join('');
  find('#das-slow').innerHTML = table(['Statement', 'Database', 'Average', 'Calls'], SLOW);
  find('#das-databases').innerHTML = table(['Name', 'CPU', 'Disk', 'State'], DATABASES.map(([name, cpu, disk, state]) => [name, `${cpu} %`, `${disk} %`, `<span class="tag ${state === 'Available' ? 'good' : 'warn'}">${state}</span>`]));

  find('#das-menu').addEventListener('click', (event) => {
    const item = event.target.closest('button');
    if (!item) return;
    findAll('button', find('#das-menu')).forEach((other) => other.classList.toggle('active', other === item));
    tracker.track('menu_click', { item: item.textContent });
    const agent = item.textContent === 'DAS Agent';
    if (agent || item.textContent === 'Overview') {
      find('#view-agent').hidden = !agent;
      find('#view-overview').hidden = agent;
    }
  });
  find('#das-icons').addEventListener('click', (event) => {
    const button = event.target.closest('[data-i]');
    if (button) toast(ICONS[Number(button.dataset.i)][2]);
  });
})();
