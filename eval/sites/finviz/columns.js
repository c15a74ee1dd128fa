// Columns and views of the result table, and how figures are written.

const shown = (text) => (value) => (value === null ? '-' : text(value));
const fixed = shown((value) => value.toFixed(2));
const percent = shown((value) => value.toFixed(2) + '%');
const plain = shown(String);
const count = shown((value) => value.toLocaleString('en-US'));

function money(millions) {
  return millions >= 1000 ? (millions / 1000).toFixed(2) + 'B' : millions.toFixed(2) + 'M';
}

function thousands(value) {
  return value >= 1e6 ? (value / 1e6).toFixed(2) + 'M' : (value / 1e3).toFixed(2) + 'K';
}

const number = (label, format = fixed) => ({ label, format, numeric: true });
const change = (label) => ({ label, format: percent, numeric: true, signed: true });
const words = (label, field) => ({ label, format: plain, field });

export const columns = {
  ticker: words('Ticker'),
  company: words('Company'),
  sector: words('Sector', 'sectorName'),
  industry: words('Industry', 'industryName'),
  country: words('Country', 'countryName'),
  cap: number('Market Cap', money),
  pe: number('P/E'),
  fpe: number('Fwd P/E'),
  peg: number('PEG'),
  ps: number('P/S'),
  pb: number('P/B'),
  div: number('Dividend', percent),
  roe: number('ROE', percent),
  netmargin: number('Margin', percent),
  debteq: number('Debt/Eq'),
  curratio: number('Curr R'),
  epsyoy: number('EPS this Y', percent),
  perf1w: change('Perf Week'),
  perf4w: change('Perf Month'),
  perf13w: change('Perf Quart'),
  perf26w: change('Perf Half'),
  perf52w: change('Perf Year'),
  perfytd: change('Perf YTD'),
  beta: number('Beta'),
  sma50: change('SMA50'),
  high52: change('52W High'),
  low52: change('52W Low'),
  rsi: number('RSI'),
  recom: number('Recom', shown((value) => value.toFixed(1))),
  avgvol: number('Avg Volume', thousands),
  relvol: number('Rel Volume'),
  volume: number('Volume', count),
  price: number('Price'),
  change: change('Change'),
};

export const views = {
  overview: { code: 111, label: 'Overview', columns: ['ticker', 'company', 'sector', 'industry', 'country', 'cap', 'pe', 'price', 'change', 'volume'] },
  valuation: { code: 121, label: 'Valuation', columns: ['ticker', 'cap', 'pe', 'fpe', 'peg', 'ps', 'pb', 'epsyoy', 'price', 'change', 'volume'] },
  financial: { code: 161, label: 'Financial', columns: ['ticker', 'cap', 'div', 'roe', 'netmargin', 'debteq', 'curratio', 'price', 'change', 'volume'] },
  performance: { code: 141, label: 'Performance', columns: ['ticker', 'perf1w', 'perf4w', 'perf13w', 'perf26w', 'perf52w', 'perfytd', 'recom', 'avgvol', 'relvol', 'price', 'change', 'volume'] },
  technical: { code: 171, label: 'Technical', columns: ['ticker', 'beta', 'sma50', 'high52', 'low52', 'rsi', 'relvol', 'price', 'change', 'volume'] },
};

export const chips = [['perf1w', 'Week'], ['perf4w', 'Month'], ['perf13w', 'Quarter'], ['perf26w', 'Half year'], ['perf52w', 'Year'], ['perfytd', 'Year to date']];

/** The text of a stock's figure, and a class that colours gains and losses. */
export function cellOf(stock, key) {
  const column = columns[key];
  const value = stock[column.field || key];
  const tone = column.signed && value ? (value > 0 ? 'up' : 'down') : '';
  return { text: column.format(value), tone };
}

/** Orders by a column; missing figures come last in both directions, equal ones in the order of symbols. */
export function ordered(stocks, { column, direction }) {
  const field = columns[column].field || column;
  const sign = direction === 'desc' ? -1 : 1;
  return stocks.slice().sort((one, other) => {
    const [left, right] = [one[field], other[field]];
    if (left === right) return one.ticker < other.ticker ? -1 : 1;
    if (left === null) return 1;
    if (right === null) return -1;
    return left < right ? -sign : sign;
  });
}
