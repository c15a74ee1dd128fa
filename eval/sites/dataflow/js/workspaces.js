/** DataFlow: contents of the tabs and workspaces as HTML. */
(function () {
  'use strict';
  const { day } = window.flow;
  const { YEARS, QUARTERS, REVENUE, money, total, months, summary } = window.flowData;
  const TOP = 80000;
  const CHANNELS = [['Shop', 44, '--green'], ['Partners', 27, '--ochre'], ['Market places', 17, '--blue'], ['Telephone', 12, '--brick']];
  const CUSTOMERS = [['Alder Supplies', 'Shop', 0.062], ['Copper & Field', 'Partners', 0.055], ['Marlow Hotels', 'Partners', 0.048], ['Nordtal Schools', 'Telephone', 0.031], ['Pier Nine Café', 'Shop', 0.027], ['Quill Stationers', 'Market places', 0.022]];

  const card = (title, note, body) => `<section class="card"><h2>${title}</h2><p class="soft small">${note}</p>${body}</section>`;
  const table = (heads, rows) => `<table><thead><tr>${heads.map((head, i) => `<th class="${i > 1 ? 'num' : ''}">${head}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map((cell, i) => `<td class="${i > 1 ? 'num' : ''}">${cell}</td>`).join('')}</tr>`).join('')}</tbody></table>`;

  function change(now, before) {
    if (!before) return '<span class="tag grey">first year</span>';
    const percent = (now / before - 1) * 100;
    return `<span class="tag ${percent < 0 ? 'down' : ''}">${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %</span>`;
  }

  function figures(year) {
    const before = { current: 'previous', previous: 'earlier' }[year];
    const old = before ? summary(before) : [];
    return `<div class="grid four">${summary(year).map(([name, value], i) => `<div class="card figure"><span class="soft small">${name}</span><b>${i % 3 ? value.toLocaleString('en-US') : money(value)}</b>${change(value, old[i] && old[i][1])}</div>`).join('')}</div>`;
  }

  const scale = () => `<div class="scale" aria-hidden="true">${[80, 60, 40, 20, 0].map((value) => `<span>${value ? `${value}k` : 0}</span>`).join('')}</div>`;
  const bars = (year) => `<div class="chart">${scale()}<div class="plot" id="quarter-chart">${REVENUE[year].map((value, i) => `<button type="button" class="bar" data-quarter="${QUARTERS[i]}" style="height:${value / TOP * 100}%"></button>`).join('')}</div><div class="axis">${QUARTERS.map((quarter) => `<span>${quarter}</span>`).join('')}</div></div>`;

  const channels = () => `<div class="donut" role="img" aria-label="Share of the channels"></div>${CHANNELS.map(([name, share, tone]) => `<p class="key"><i style="background:var(${tone})"></i><span class="grow">${name}</span><b>${share} %</b></p>`).join('')}`;
  const customers = (year) => table(['Customer', 'Channel', 'Revenue'], CUSTOMERS.map(([name, channel, share]) => [name, channel, money(total(year) * share)]));
  const orders = () => table(['Order', 'Customer', 'Amount'], CUSTOMERS.slice(0, 5).map(([name], i) => [`${day(-i)} · ${4410 - i * 7}`, name, money(186 + (i * 379) % 640)]));
  const widgets = (names) => (names.length ? `<div class="grid three">${names.map((name) => card(name, 'New widget', '<p class="soft" style="padding:26px 0;text-align:center">Data arrives with the next update.</p>')).join('')}</div>` : '');

  function line(year) {
    const points = months(year).map(({ name, value }, i) => ({ x: 70 + i * 76, y: 205 - value / 32000 * 185, name: name.slice(0, 3) }));
    return `<div class="line"><svg viewBox="0 0 960 240" role="img" aria-label="Revenue by month"><g stroke="#e9e2d5"><path d="M40 20h890M40 82h890M40 143h890M40 205h890"/></g><polyline points="${points.map(({ x, y }) => `${x},${y.toFixed(1)}`).join(' ')}" fill="none" stroke="#1f7357" stroke-width="3"/>
      ${points.map(({ x, y, name }) => `<circle cx="${x}" cy="${y.toFixed(1)}" r="4.5" fill="#c98a2b"/><text x="${x}" y="228" text-anchor="middle" font-size="13" fill="#6d675d">${name}</text>`).join('')}</svg></div>`;
  }

  const grid = (kind, ...cards) => `<div class="grid ${kind}">${cards.join('')}</div>`;
  const meter = (name, share) => `<p class="row" style="margin-top:14px"><span class="grow">${name}</span><b>${share} %</b></p><div class="meter"><i style="width:${share}%"></i></div>`;
  const note = (text) => `<p class="soft" style="margin-top:10px">${text}</p>`;
  const head = (title) => `<div class="head"><h1>${title}</h1></div>`;

  const overview = (year, names) => figures(year)
    + grid('wide', card('Revenue by quarter', `${YEARS[year]}, select a bar for its report`, bars(year)), card('Channels', 'Share of revenue', channels()))
    + widgets(names)
    + grid('two', card('Latest orders', 'All channels', orders()), card('Top customers', YEARS[year], customers(year)));

  function revenueTab(year) {
    const best = months(year).sort((a, b) => b.value - a.value).slice(0, 5).map(({ name, value }) => [name, '', money(value)]);
    const fees = [['Sales tax', 0.17], ['Payment fees', 0.018], ['Platform fees', 0.024]].map(([name, share]) => [name, '', money(total(year) * share)]);
    return grid('', card('Revenue by month', YEARS[year], line(year)))
      + grid('two', card('Best months', 'By revenue', table(['Month', '', 'Revenue'], best)), card('Taxes and fees', 'Estimate', table(['Kind', '', 'Amount'], fees)));
  }

  function customersTab(year) {
    const lost = [['Hollow Oak Inn', 'Telephone', 14], ['Sailmaker Row', 'Shop', 9], ['Brandt Workshops', 'Partners', 6]];
    const countries = [['Germany', '', '41 %'], ['Denmark', '', '27 %'], ['Netherlands', '', '19 %'], ['Other', '', '13 %']];
    return grid('two',
      card('Top customers', YEARS[year], customers(year)),
      card('New and returning', 'Share of orders', meter('Returning', 64) + meter('New', 36) + note('A customer counts as returning after the second order within two years.')))
      + grid('three',
        card('Lost customers', 'No order for a year', table(['Customer', 'Last channel', 'Orders'], lost)),
        card('By country', 'Share of customers', table(['Country', '', 'Share'], countries)),
        card('Feedback', 'Last 30 days', '<p class="figure"><b>4.6 of 5</b><span class="soft small">from 212 answers</span></p>'));
  }

  function channelsTab() {
    const costs = CHANNELS.map(([name, share]) => [name, '', money(2 + share / 9)]);
    const campaigns = [['Spring catalogue', 'Shop', 318], ['Partner bonus', 'Partners', 127], ['First order', 'Market places', 94]];
    return grid('two', card('Channels', 'Share of revenue', channels()), card('Cost of an order', 'By channel', table(['Channel', '', 'Cost'], costs)))
      + card('Campaigns', 'Running now', table(['Campaign', 'Channel', 'Orders'], campaigns));
  }

  function reports() {
    const later = '<p style="margin-top:12px"><button type="button" disabled>Not ready</button></p>';
    const shortcut = card('Q4 report', 'Shortcut to the current year', '<p style="margin-top:12px"><button type="button" data-report="Q4">Open Q4 report</button></p>');
    const scheduled = [['Orders of the day', 'Robin Vale', day(1)], ['Stock below minimum', 'Mika Orr', day(2)], ['Unpaid invoices', 'Jonah Pell', day(5)], ['Partner statement', '14 partners', day(9)]];
    return head('Reports')
      + grid('three', shortcut, card('Annual report', 'Is prepared in January', later), card('Tax summary', 'For your accountant', later))
      + card('Scheduled reports', 'Sent by e-mail', table(['Report', 'Recipients', 'Next'], scheduled))
      + note('Reports of other quarters open from the chart of the dashboard.');
  }

  function segments() {
    const all = [
      ['Regulars', 'Four orders in a year', '1,204'], ['Sleeping', 'No order for 180 days', '866'], ['Large orders', 'Average above $250', '97'],
      ['Schools', 'Tax number begins with S', '63'], ['New this month', 'First order in 30 days', '118'], ['Newsletter', 'Has opened one of three', '1,540'],
    ];
    const moved = [['Sleeping to Regulars', 'in', 41], ['Regulars to Sleeping', 'out', 36]];
    return head('Segments')
      + grid('', card('Segments of customers', 'Updated every night', table(['Segment', 'Rule', 'Members'], all)))
      + grid('two', card('Movement', 'Since last month', table(['Segment', 'Direction', 'Members'], moved)), card('Rules', 'What counts', note('Refunded orders are ignored. A customer may belong to several segments.')));
  }

  function goals() {
    const reached = [['1,000 orders in a month', 'Robin Vale', day(-2)], ['Refunds below 3.5 %', 'Mika Orr', day(-48)], ['Third warehouse', 'Robin Vale', day(-131)]];
    return head('Goals')
      + grid('two',
        card('Company', 'Until the end of the year', meter('Revenue of $210,000', 98) + meter('Refunds below 3 %', 91) + meter('1,500 new customers', 74)),
        card('Team', 'This quarter', meter('Answer within four hours', 83) + meter('Ten partner visits', 60) + meter('Two new market places', 50)))
      + card('Milestones', 'Reached this year', table(['Milestone', 'Owner', 'Date'], reached));
  }

  function team() {
    const members = [['Robin Vale', 'Owner', day(0)], ['Mika Orr', 'Analyst', day(0)], ['Jonah Pell', 'Viewer', day(-6)]];
    const activity = [['Goal “Returning customers” changed', 'Robin Vale', day(-1)], ['Widget “Refunds” moved', 'Mika Orr', day(-2)], ['Partner statement sent', 'automatic', day(-5)], ['Report of the quarter shared', 'Mika Orr', day(-8)]];
    return head('Team')
      + grid('', card('Members', 'Three of five seats are in use', table(['Name', 'Role', 'Last seen'], members)))
      + card('Activity', 'Last days', table(['What', 'Who', 'When'], activity));
  }

  const TABS = { overview: ['Overview', overview], revenue: ['Revenue', revenueTab], customers: ['Customers', customersTab], channels: ['Channels', channelsTab] };
  const WORKSPACES = { dashboard: ['Dashboard', null], reports: ['Reports', reports], segments: ['Segments', segments], goals: ['Goals', goals], team: ['Team', team] };

  window.flowPages = { TABS, WORKSPACES };
})();
