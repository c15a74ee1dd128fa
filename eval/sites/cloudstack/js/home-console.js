/** CloudStack console home: services by category, costs and recent activity. */
(function () {
  'use strict';
  const { find, consoleLink, day, CATEGORIES, PRODUCTS } = window.cloud;
  const COSTS = [['ECS', 1284.5], ['RDS', 806.2], ['OSS', 391.84], ['SLB', 188.3], ['CDN', 141.7], ['Other', 104.54]];
  const ACTIVITY = [[0, 'Backup of orders-primary finished'], [0, 'build-agent restarted web-front-2'], [-1, 'Policy read-only assigned to group Analysts'], [-2, 'Bucket media-originals: lifecycle rule changed'], [-3, 'staging-api stopped by schedule']];

  find('#running').textContent = String(window.cloudEcs.instances().filter(({ state }) => state === 'Running').length);
  find('#services').innerHTML = CATEGORIES.map((name) => `<h3>${name}</h3>${PRODUCTS.filter(({ category }) => category === name)
    .map((entry) => consoleLink(entry, `<b>${entry.code}</b>${entry.name}`)).join('')}`).join('');
  find('#costs').innerHTML = COSTS.map(([name, cost]) => `<div class="row small" style="justify-content:space-between;margin-top:6px"><span>${name}</span><span>${cost.toFixed(2)}</span></div><div class="meter"><i style="width:${cost / COSTS[0][1] * 100}%"></i></div>`).join('');
  find('#activity').innerHTML = ACTIVITY.map(([age, text]) => `<li><span class="soft nowrap">${day(age)}</span><span>${text}</span></li>`).join('');
})();
