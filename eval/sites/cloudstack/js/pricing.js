/** CloudStack price lists: billing period and product groups. */
(function () {
  'use strict';
  const { find, findAll } = window.cloud;
  const HOURS = 730;
  const PERIODS = {
    hourly: { factor: 1, digits: 3, unit: 'hour', note: 'Credits an hour, billed by the second' },
    monthly: { factor: HOURS * 0.86, digits: 2, unit: 'month', note: 'Credits a month, about 14 % less than hourly' },
    yearly: { factor: HOURS * 12 * 0.69, digits: 0, unit: 'year', note: 'Credits a year, about 31 % less than hourly' },
  };
  const GROUPS = {
    Compute: [['Shared, small', '2 vCPU, 4 GiB', 0.046], ['Compute, medium', '4 vCPU, 8 GiB', 0.118], ['General, medium', '4 vCPU, 16 GiB', 0.147], ['General, large', '16 vCPU, 64 GiB', 0.56], ['Memory, large', '16 vCPU, 128 GiB', 0.61], ['Cluster control plane', 'three zones', 0.09]],
    Storage: [['Standard bucket', '1 TiB, three copies', 0.031], ['Infrequent bucket', '1 TiB, 30 days minimum', 0.016], ['Archive vault', '1 TiB, restored within four hours', 0.004], ['Balanced SSD', '100 GiB, 12,000 operations a second', 0.014], ['Performance SSD', '100 GiB, 60,000 operations a second', 0.037]],
    Database: [['db.s1', '1 vCPU, 2 GiB, single', 0.038], ['db.g2', '2 vCPU, 8 GiB, with standby', 0.164], ['db.g8', '8 vCPU, 32 GiB, with standby', 0.612], ['Cache 4 GiB', 'with replica', 0.087], ['Documents', '3 nodes, 4 vCPU each', 0.468]],
    Networking: [['Load balancer', 'up to 5,000 connections', 0.021], ['Fixed address', 'one', 0.004], ['NAT gateway', 'one zone', 0.045], ['Private link', '1 Gbit/s', 0.22]],
  };
  const chosen = { period: 'monthly', group: 'Compute' };

  function draw() {
    const { factor, digits, unit, note } = PERIODS[chosen.period];
    const price = (hourly) => (hourly * factor).toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    find('#period-note').textContent = note;
    findAll('#period button').forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.period === chosen.period)));
    find('#price-tabs').innerHTML = Object.keys(GROUPS).map((name) => `<button type="button" role="tab" data-group="${name}" aria-selected="${name === chosen.group}">${name}</button>`).join('');
    find('#prices').innerHTML = `<table><thead><tr><th>Item</th><th>Size</th><th class="num">Credits per ${unit}</th></tr></thead><tbody>${GROUPS[chosen.group].map(([name, size, hourly]) =>
      `<tr><td><b>${name}</b></td><td>${size}</td><td class="num">${price(hourly)}</td></tr>`).join('')}</tbody></table>`;
  }

  find('#period').addEventListener('click', (event) => {
    const { period } = event.target.dataset;
    if (!period || period === chosen.period) return;
    chosen.period = period;
    tracker.track('pricing_period', { period });
    draw();
  });
  find('#price-tabs').addEventListener('click', (event) => {
    const { group } = event.target.dataset;
    if (!group || group === chosen.group) return;
    chosen.group = group;
    tracker.track('pricing_tab', { tab: group });
    draw();
  });
  draw();
})();
