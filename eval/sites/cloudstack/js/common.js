/** CloudStack: the tracker, DOM helpers, dialogs and the product catalogue, shared by all pages. */
(function () {
  'use strict';

  window.tracker = new AgentTracker('cloudstack', 'hard');

  const find = (selector, root = document) => root.querySelector(selector);
  const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

  function escape(text) {
    const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
    return String(text).replace(/[&<>"]/g, (sign) => names[sign]);
  }

  function build(html) {
    const template = document.createElement('template');
    template.innerHTML = html.trim();
    return template.content.firstElementChild;
  }

  const ICONS = {
    bell: '<path d="M6 9a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2.2 2.2 0 0 0 4 0"/>',
    close: '<path d="M6 6l12 12M18 6L6 18"/>',
    help: '<circle cx="12" cy="12" r="9"/><path d="M9.5 9.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M12 17v.1"/>',
    grid: '<path d="M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z"/>',
    globe: '<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18"/>',
  };
  const icon = (name, size = 18) => `<svg width="${size}" height="${size}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${ICONS[name]}</svg>`;
  const logo = '<svg width="28" height="22" viewBox="0 0 28 22" aria-hidden="true"><rect x="7" y="0" width="14" height="5" rx="2.5" fill="#e9603a"/><rect x="3" y="8" width="22" height="5" rx="2.5" fill="#27a7ba"/><rect x="0" y="16" width="28" height="6" rx="3" fill="#0a7486"/></svg>';

  const product = (code, name, category, text, page) =>
    ({ code, name, category, text, page: page || `service.html?code=${code.toLowerCase()}` });
  const CATEGORIES = ['Compute', 'Storage', 'Database', 'Networking', 'Security', 'Management', 'Analytics'];
  const PRODUCTS = [
    product('ECS', 'Elastic Compute Service', 'Compute', 'Virtual machines in six families, billed by the hour or by the month.', 'ecs.html'),
    product('CCS', 'Container Cluster Service', 'Compute', 'Managed clusters with rolling upgrades and node pools that follow the load.'),
    product('FNS', 'Function Service', 'Compute', 'Run a handler on each event. No servers, billed by the millisecond.'),
    product('BPS', 'Batch Processing', 'Compute', 'Queues of jobs on spare capacity, with retries and dependencies.'),
    product('OSS', 'Object Storage Service', 'Storage', 'Buckets for files of any size, in three storage classes.', 'oss.html'),
    product('BDS', 'Block Disk Service', 'Storage', 'Disks for instances, from archive speed to 120,000 operations a second.'),
    product('FSS', 'File Share Service', 'Storage', 'Shared folders that many instances mount at the same time.'),
    product('ARC', 'Archive Vault', 'Storage', 'Long-term retention with legal hold, restored within four hours.'),
    product('RDS', 'Relational Database Service', 'Database', 'Managed relational databases with standby, backups and point-in-time restore.', 'rds.html'),
    product('NDB', 'Document Database', 'Database', 'Flexible documents, secondary indexes and change streams.'),
    product('KVS', 'Key-Value Cache', 'Database', 'In-memory cache with answers in less than a millisecond.'),
    product('DAS', 'Database Advisory Service', 'Database', 'Finds slow statements, watches capacity and answers questions about your databases.', 'das.html'),
    product('VPC', 'Virtual Private Cloud', 'Networking', 'Private networks with subnets in each zone and your own address plan.', 'vpc.html'),
    product('SLB', 'Server Load Balancer', 'Networking', 'Spreads traffic over healthy servers in several zones.', 'slb.html'),
    product('CDN', 'Content Delivery', 'Networking', 'Caches close to your visitors, with 140 points of presence.'),
    product('DNS', 'Name Service', 'Networking', 'Authoritative zones with health checks and weighted answers.'),
    product('RAM', 'Resource Access Management', 'Security', 'Users, groups and policies: who may do what with which resource.'),
    product('KMS', 'Key Management', 'Security', 'Creates, rotates and audits encryption keys.'),
    product('WAF', 'Web Application Firewall', 'Security', 'Stops attacks on web applications before they reach your servers.'),
    product('CMS', 'Cloud Monitoring Service', 'Management', 'Metrics, alert rules and dashboards for every resource.', 'cms.html'),
    product('LGS', 'Log Service', 'Management', 'Collects, searches and keeps logs of all products.'),
    product('BGT', 'Budgets', 'Management', 'Spending limits with alerts, by product, team or tag.', 'budget.html'),
    product('DWH', 'Data Warehouse', 'Analytics', 'Columnar analytics over terabytes, with standard queries.'),
    product('STR', 'Event Streams', 'Analytics', 'Ordered streams for pipelines with many readers.'),
  ];
  const tone = (entry) => CATEGORIES.indexOf(entry.category);
  const badge = (entry) => `<span class="code" data-tone="${tone(entry)}" aria-hidden="true">${entry.code}</span>`;

  function toast(text) {
    findAll('.toast').forEach((old) => old.remove());
    const box = build('<div class="toast" role="status"></div>');
    box.textContent = text;
    document.body.append(box);
    setTimeout(() => box.remove(), 3200);
  }

  /** A modal dialog. Opening by the visitor and closing are reported; `quiet` opens without an event. */
  function openDialog(name, title, body, { quiet = false, art = '' } = {}) {
    const dialog = build(`<dialog id="${name}-dialog" aria-labelledby="${name}-title">${art}
      <div class="dialog-head"><h2 id="${name}-title">${title}</h2><button type="button" class="icon" data-close aria-label="Close">${icon('close')}</button></div>
      <div class="dialog-body">${body}</div></dialog>`);
    const close = (method) => {
      if (!dialog.open) return;
      dialog.close();
      dialog.remove();
      tracker.track('modal_close', { modal: name, method });
    };
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) close('backdrop');
      else if (event.target.closest('[data-close]')) close('button');
    });
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      close('escape');
    });
    document.body.append(dialog);
    dialog.showModal();
    if (!quiet) tracker.track('modal_open', { modal: name });
    return { dialog, close };
  }

  function read(storage, key, fallback) {
    try {
      return JSON.parse(storage.getItem(key)) ?? fallback;
    } catch {
      return fallback;
    }
  }

  const write = (storage, key, value) => storage.setItem(key, JSON.stringify(value));

  /** Date `days` from the day of the run, as YYYY-MM-DD. */
  function day(days) {
    const date = new Date(`${window.evalRun.today}T12:00:00Z`);
    date.setUTCDate(date.getUTCDate() + days);
    return date.toISOString().slice(0, 10);
  }

  const fillDays = (html) => html.replace(/\{day([+-]\d+)?\}/g, (_, shift) => day(Number(shift || 0)));

  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest('a[data-console]');
    if (link) tracker.track('console_open', { product: link.dataset.console, from: location.pathname });
  });

  const consoleLink = (entry, content, extra = '') =>
    `<a href="${entry.page}" data-console="${entry.code.toLowerCase()}" ${extra}>${content}</a>`;

  window.cloud = {
    find, findAll, escape, build, icon, logo, badge, toast, openDialog, read, write, day, fillDays, consoleLink, CATEGORIES, PRODUCTS,
  };
})();
