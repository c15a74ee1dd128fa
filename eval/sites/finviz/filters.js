// The filters of the screener: on which tab each one is, its codes and labels, and what they let through.

import { countries, exchanges, industries, sectors } from './market.js';

const is = (field) => ([value, label]) => [value, label, (stock) => stock[field] === value];
const known = (value) => value !== null;
const below = (field, limit) => (stock) => known(stock[field]) && stock[field] < limit;
const above = (field, limit) => (stock) => known(stock[field]) && stock[field] > limit;
const within = (field, low, high) => (stock) => known(stock[field]) && stock[field] >= low && stock[field] <= high;

const under = (field, limits, suffix = '') => limits.map((limit) => [`u${limit}`, `Under ${limit}${suffix}`, below(field, limit)]);
const over = (field, limits, suffix = '') => limits.map((limit) => [`o${limit}`, `Over ${limit}${suffix}`, above(field, limit)]);

const CAP_BOUNDS = {
  mega: ['Mega ($200bln and more)', 200000, Infinity],
  large: ['Large ($10bln to $200bln)', 10000, 200000],
  mid: ['Mid ($2bln to $10bln)', 2000, 10000],
  small: ['Small ($300mln to $2bln)', 300, 2000],
  micro: ['Micro ($50mln to $300mln)', 50, 300],
  nano: ['Nano (under $50mln)', 0, 50],
};

const capBand = ([value, [label, low, high]]) => [value, label, (stock) => stock.cap >= low && stock.cap < high];
const capOver = (value, name, bound, limit) => [`${value}over`, `+${name} (over ${bound})`, above('cap', limit)];
const capUnder = (value, name, bound, limit) => [`${value}under`, `-${name} (under ${bound})`, below('cap', limit)];

const VOLUMES = [['50', '50K', 5e4], ['100', '100K', 1e5], ['200', '200K', 2e5], ['500', '500K', 5e5], ['750', '750K', 7.5e5], ['1m', '1M', 1e6], ['2m', '2M', 2e6]];
const lowVolumes = VOLUMES.filter(([code]) => !['200', '2m'].includes(code)).map(([code, label, limit]) => [`u${code}`, `Under ${label}`, below('avgvol', limit)]);
const highVolumes = VOLUMES.map(([code, label, limit]) => [`o${code}`, `Over ${label}`, above('avgvol', limit)]);

const PERIODS = [['1w', 'Week', 'perf1w'], ['4w', 'Month', 'perf4w'], ['13w', 'Quarter', 'perf13w'], ['26w', 'Half', 'perf26w'], ['52w', 'Year', 'perf52w']];
const performances = PERIODS.flatMap(([code, label, field]) => [
  [`${code}up`, `${label} Up`, above(field, 0)],
  [`${code}down`, `${label} Down`, below(field, 0)],
  [`${code}10o`, `${label} +10%`, above(field, 10)],
  [`${code}10u`, `${label} -10%`, below(field, -10)],
]);

const DESCRIPTIVE = [
  ['fs_exch', 'Exchange', exchanges.map(is('exchange'))],
  ['fs_idx', 'Index', [['top100', 'Harbor Top 100'], ['broad500', 'Union Broad 500']].map(is('index'))],
  ['fs_sec', 'Sector', sectors.map(is('sector'))],
  ['fs_ind', 'Industry', industries.map(is('industry'))],
  ['fs_geo', 'Country', countries.map(is('country')).concat([['notusa', 'Foreign (ex-USA)', (stock) => stock.country !== 'usa']])],
  ['fs_cap', 'Market Cap', [
    ...Object.entries(CAP_BOUNDS).map(capBand),
    capOver('large', 'Large', '$10bln', 10000), capOver('mid', 'Mid', '$2bln', 2000),
    capOver('small', 'Small', '$300mln', 300), capOver('micro', 'Micro', '$50mln', 50),
    capUnder('large', 'Large', '$200bln', 200000), capUnder('mid', 'Mid', '$10bln', 10000),
    capUnder('small', 'Small', '$2bln', 2000), capUnder('micro', 'Micro', '$300mln', 300),
  ]],
  ['fs_fa_div', 'Dividend Yield', [
    ['none', 'None (0%)', within('div', 0, 0)], ['pos', 'Positive (>0%)', above('div', 0)],
    ['high', 'High (>5%)', above('div', 5)], ['veryhigh', 'Very High (>8%)', above('div', 8)],
    ...over('div', [1, 2, 3, 4, 5, 6, 7], '%'),
  ]],
  ['fs_sh_avgvol', 'Average Volume', [...lowVolumes, ...highVolumes]],
  ['fs_sh_relvol', 'Relative Volume', [...over('relvol', [3, 2, 1.5, 1, 0.75, 0.5, 0.25]), ...under('relvol', [2, 1.5, 1, 0.75, 0.5, 0.25])]],
  ['fs_sh_price', 'Price $', [...under('price', [5, 10, 20, 50, 100]).map(dollars), ...over('price', [5, 10, 20, 50, 100, 200]).map(dollars)]],
  ['fs_an_recom', 'Analyst Recom.', [
    ['strongbuy', 'Strong Buy (1)', within('recom', 1, 1.4)], ['buy', 'Buy', within('recom', 1.5, 2.4)], ['hold', 'Hold', within('recom', 2.5, 3.4)],
    ['sell', 'Sell', within('recom', 3.5, 4.4)], ['strongsell', 'Strong Sell (5)', within('recom', 4.5, 5)],
  ]],
];

const FUNDAMENTAL = [
  ['fs_fa_pe', 'P/E', ratios('pe', [5, 10, 15, 20, 25, 30, 40, 50])],
  ['fs_fa_fpe', 'Forward P/E', ratios('fpe', [5, 10, 15, 20, 25, 30, 40, 50])],
  ['fs_fa_peg', 'PEG', [...under('peg', [1, 2, 3]), ...over('peg', [1, 2, 3])]],
  ['fs_fa_ps', 'P/S', [...under('ps', [1, 2, 3, 5, 10]), ...over('ps', [1, 2, 3, 5, 10])]],
  ['fs_fa_pb', 'P/B', [...under('pb', [1, 2, 3, 4, 5, 10]), ...over('pb', [1, 2, 3, 4, 5, 10])]],
  ['fs_fa_epsyoy', 'EPS Growth', [
    ['neg', 'Negative (<0%)', below('epsyoy', 0)], ['pos', 'Positive (>0%)', above('epsyoy', 0)], ...over('epsyoy', [5, 10, 15, 20, 25, 30], '%'),
  ]],
  ['fs_fa_roe', 'Return on Equity', [
    ['pos', 'Positive (>0%)', above('roe', 0)], ['neg', 'Negative (<0%)', below('roe', 0)], ...over('roe', [5, 10, 15, 20, 30, 40], '%'),
  ]],
  ['fs_fa_netmargin', 'Net Profit Margin', [
    ['pos', 'Positive (>0%)', above('netmargin', 0)], ['neg', 'Negative (<0%)', below('netmargin', 0)], ...over('netmargin', [5, 10, 15, 20, 25], '%'),
  ]],
  ['fs_fa_debteq', 'Debt/Equity', [...under('debteq', [0.1, 0.5, 1, 2]), ...over('debteq', [0.1, 0.5, 1, 2])]],
  ['fs_fa_curratio', 'Current Ratio', [...under('curratio', [0.5, 1, 2]), ...over('curratio', [0.5, 1, 1.5, 2, 3, 4])]],
];

const TECHNICAL = [
  ['fs_ta_perf', 'Performance', performances],
  ['fs_ta_rsi', 'RSI (14)', [
    ['ob80', 'Overbought (80)', above('rsi', 80)], ['ob70', 'Overbought (70)', above('rsi', 70)], ['ob60', 'Overbought (60)', above('rsi', 60)],
    ['os40', 'Oversold (40)', below('rsi', 40)], ['os30', 'Oversold (30)', below('rsi', 30)], ['os20', 'Oversold (20)', below('rsi', 20)],
  ]],
  ['fs_ta_sma50', '50-Day Average', [
    ['pa', 'Price above SMA50', above('sma50', 0)], ['pb', 'Price below SMA50', below('sma50', 0)],
    ['pa10', 'Price 10% above SMA50', above('sma50', 10)], ['pb10', 'Price 10% below SMA50', below('sma50', -10)],
  ]],
  ['fs_ta_highlow52w', '52-Week High/Low', [
    ['nh', 'New High', within('high52', 0, 0)], ['nl', 'New Low', below('low52', 0.05)], ['b0to10h', '0-10% below High', within('high52', -10, 0)],
    ['b20h', '20% or more below High', below('high52', -20)], ['a0to10h', '0-10% above Low', within('low52', 0, 10)], ['a50h', '50% or more above Low', above('low52', 50)],
  ]],
  ['fs_ta_beta', 'Beta', [...under('beta', [0.5, 1, 1.5, 2]), ...over('beta', [0.5, 1, 1.5, 2])]],
  ['fs_signal', 'Signal', [
    ['topgainers', 'Top Gainers', above('change', 6)], ['toplosers', 'Top Losers', below('change', -6)], ['newhigh', 'New High', within('high52', 0, 0)],
    ['unusualvolume', 'Unusual Volume', above('relvol', 3.2)], ['mostactive', 'Most Active', above('volume', 8e6)],
    ['overbought', 'Overbought', above('rsi', 70)], ['oversold', 'Oversold', below('rsi', 30)],
  ]],
];

function dollars([value, label, test]) {
  return [value, label.replace(/ (\d+)$/, ' $$$1'), test];
}

function ratios(field, limits) {
  return [
    ['low', 'Low (<15)', below(field, 15)], ['profitable', 'Profitable (>0)', above(field, 0)], ['high', 'High (>50)', above(field, 50)],
    ...under(field, limits), ...over(field, limits),
  ];
}

const onTab = (tab, rows) => rows.map(([id, label, options]) => ({ id, label, tab, options }));

export const filters = [...onTab('descriptive', DESCRIPTIVE), ...onTab('fundamental', FUNDAMENTAL), ...onTab('technical', TECHNICAL)];

const tests = new Map(filters.flatMap(({ id, options }) => options.map(([value, , test]) => [`${id}=${value}`, test])));

/** The stocks that pass every chosen filter; `chosen` maps ids of filters to codes. */
export function screen(stocks, chosen) {
  const needed = Object.entries(chosen).map(([id, value]) => tests.get(`${id}=${value}`));
  return stocks.filter((stock) => needed.every((test) => test(stock)));
}
