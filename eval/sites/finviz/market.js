// The market of the screener: a fixed list of fictional companies, the same on every visit.
// Only exact arithmetic is used, so that every browser computes the same figures.

const SEED = 20471;
const COMPANIES = 1584;

const STARTS = (
  'Ald Ambr Arv Bask Bel Brin Cadr Calv Corv Darr Del Dren Eld Emb Esk Fal Fern Gald Gren Hal Hask Hest Ingr Irv Jass Jor ' +
  'Kal Keld Kor Lann Lor Lum Mar Mel Mor Narr Norr Olv Orl Pels Perr Quil Quor Rald Ren Ross Sel Sorr Tal Torv Ulm Vard Ver Welk Yarr Zan'
).split(' ');
const ENDS = (
  'ant ara aven bury cote dale dane den dor eck enix era feld gate haven ion land lane mere mont more ora ova holm tarn tane tria vane well worth'
).split(' ');

const SECTORS = [
  ['technology', 'Technology', [
    ['semiconductors', 'Semiconductors', 'Semiconductors Microdevices'],
    ['softwareapplication', 'Software - Application', 'Software Systems'],
    ['softwareinfrastructure', 'Software - Infrastructure', 'Networks Cloud'],
    ['electroniccomponents', 'Electronic Components', 'Electronics Photonics'],
  ]],
  ['healthcare', 'Healthcare', [
    ['biotechnology', 'Biotechnology', 'Therapeutics Biosciences'],
    ['medicaldevices', 'Medical Devices', 'Medical Surgical'],
    ['drugmanufacturers', 'Drug Manufacturers', 'Pharma Laboratories'],
    ['healthplans', 'Healthcare Plans', 'Health Care'],
  ]],
  ['financial', 'Financial', [
    ['banksregional', 'Banks - Regional', 'Bancorp Financial'],
    ['assetmanagement', 'Asset Management', 'Capital Partners'],
    ['insurancelife', 'Insurance - Life', 'Assurance Life'],
    ['creditservices', 'Credit Services', 'Credit Lending'],
  ]],
  ['industrials', 'Industrials', [
    ['aerospacedefense', 'Aerospace & Defense', 'Aerospace Dynamics'],
    ['railroads', 'Railroads', 'Rail Transit'],
    ['specialtymachinery', 'Specialty Machinery', 'Machinery Tools'],
    ['wastemanagement', 'Waste Management', 'Environmental Recycling'],
  ]],
  ['consumercyclical', 'Consumer Cyclical', [
    ['apparelretail', 'Apparel Retail', 'Apparel Outfitters'],
    ['autoparts', 'Auto Parts', 'Motors Driveline'],
    ['restaurants', 'Restaurants', 'Kitchens Hospitality'],
    ['homebuilders', 'Residential Construction', 'Homes Builders'],
  ]],
  ['consumerdefensive', 'Consumer Defensive', [
    ['packagedfoods', 'Packaged Foods', 'Foods Provisions'],
    ['beveragesnonalcoholic', 'Beverages - Non-Alcoholic', 'Beverages Springs'],
    ['householdproducts', 'Household Products', 'Home Brands'],
    ['grocerystores', 'Grocery Stores', 'Markets Grocers'],
  ]],
  ['energy', 'Energy', [
    ['oilgasproduction', 'Oil & Gas Production', 'Petroleum Resources'],
    ['oilgasmidstream', 'Oil & Gas Midstream', 'Pipelines Midstream'],
    ['solar', 'Solar', 'Solar Renewables'],
    ['uranium', 'Uranium', 'Uranium Nuclear'],
  ]],
  ['basicmaterials', 'Basic Materials', [
    ['gold', 'Gold', 'Gold Minerals'],
    ['specialtychemicals', 'Specialty Chemicals', 'Chemicals Polymers'],
    ['steel', 'Steel', 'Steel Alloys'],
    ['lumber', 'Lumber & Wood', 'Timber Forest'],
  ]],
  ['communicationservices', 'Communication Services', [
    ['telecom', 'Telecom Services', 'Telecom Wireless'],
    ['entertainment', 'Entertainment', 'Studios Entertainment'],
    ['publishing', 'Publishing', 'Press Publishing'],
    ['advertising', 'Advertising Agencies', 'Media Advertising'],
  ]],
  ['utilities', 'Utilities', [
    ['utilitieselectric', 'Utilities - Electric', 'Electric Power'],
    ['utilitieswater', 'Utilities - Water', 'Water Waterworks'],
    ['utilitiesgas', 'Utilities - Gas', 'Gas Utilities'],
    ['utilitiesrenewable', 'Utilities - Renewable', 'Wind Hydro'],
  ]],
  ['realestate', 'Real Estate', [
    ['reitindustrial', 'REIT - Industrial', 'Logistics Properties'],
    ['reitresidential', 'REIT - Residential', 'Residential Communities'],
    ['reitoffice', 'REIT - Office', 'Office Towers'],
    ['reitretail', 'REIT - Retail', 'Retail Centers'],
  ]],
];

const COUNTRIES = [
  ['usa', 'USA', 60], ['canada', 'Canada', 9], ['uk', 'United Kingdom', 6], ['germany', 'Germany', 5], ['japan', 'Japan', 5],
  ['brazil', 'Brazil', 4], ['france', 'France', 4], ['switzerland', 'Switzerland', 3], ['singapore', 'Singapore', 2], ['australia', 'Australia', 2],
];
const EXCHANGES = [['atl', 'Atlantic', 45], ['har', 'Harbor', 40], ['uni', 'Union', 15]];

// Upper end of the share of companies, then the bounds of their market value in millions.
const CAP_BANDS = [
  [0.05, 4, 50], [0.24, 50, 300], [0.5, 300, 2000], [0.79, 2000, 10000], [0.985, 10000, 200000], [1, 200000, 900000],
];

function generator(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (low, high) => low + (high - low) * next(),
    skewed(low, high) {
      const share = next();
      return low + (high - low) * share * share * share;
    },
    bell(middle, width) {
      return middle + width * (next() + next() + next() + next() - 2);
    },
    pick: (list) => list[Math.floor(next() * list.length)],
    weighted(list) {
      let left = next() * list.reduce((sum, item) => sum + item[2], 0);
      return list.find((item) => (left -= item[2]) < 0) || list[0];
    },
    shuffled(list) {
      const copy = list.slice();
      for (let last = copy.length - 1; last > 0; last -= 1) {
        const other = Math.floor(next() * (last + 1));
        [copy[last], copy[other]] = [copy[other], copy[last]];
      }
      return copy;
    },
  };
}

// Symbols that would be mistaken for those of well-known companies.
const AVOIDED = 'ALDI AMBA BASE BLDR CORT DLTR ELDN FERG FRNT GRNT HSTM INGN INGR KALM KALD LAND LANC LMND LUMA MRVL NARI NORT OLLI ORLY PERF RELY SLVM TORM VERX VRNT WELL'.split(' ');

const round = (value, digits = 2) => {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
};

/** A free symbol of three to five letters made from the company's name. */
function symbolFor(first, second, taken) {
  const letters = first.toUpperCase();
  const skeleton = letters[0] + letters.slice(1).replace(/[AEIOU]/g, '');
  const initial = second[0].toUpperCase();
  const candidates = [skeleton.slice(0, 4), skeleton.slice(0, 3) + initial, letters.slice(0, 4), letters.slice(0, 3) + initial, skeleton.slice(0, 4) + initial];
  for (const letter of 'XTQZKVWNRS') candidates.push(skeleton.slice(0, 3) + letter, letters.slice(0, 4) + letter);
  const symbol = candidates.find((text) => text.length >= 3 && !taken.has(text));
  taken.add(symbol);
  return symbol;
}

/** Market value in millions, with the precision in which it is shown. */
function marketCap(random) {
  const share = random.next();
  const [, low, high] = CAP_BANDS.find((band) => share < band[0]) || CAP_BANDS[CAP_BANDS.length - 1];
  const value = random.skewed(low, high);
  return value >= 1000 ? Math.round(value / 10) * 10 : round(value);
}

function valuation(random) {
  const profitable = random.next() > 0.2;
  const pe = profitable ? round(4 + random.skewed(0, 30) + random.between(0, 26)) : null;
  const growth = round(random.bell(12, 22));
  return {
    pe,
    fpe: profitable ? round(Math.max(3, pe * random.between(0.68, 1.22))) : null,
    peg: profitable && growth > 1 ? round(pe / growth) : null,
    epsyoy: growth,
    ps: round(0.1 + random.skewed(0, 16) + random.between(0, 2)),
    pb: round(0.3 + random.skewed(0, 14) + random.between(0, 2.6)),
    roe: profitable ? round(random.between(1, 26) + random.skewed(0, 30)) : round(-random.skewed(1, 60)),
    netmargin: profitable ? round(random.between(1, 24) + random.skewed(0, 18)) : round(-random.skewed(1, 80)),
    debteq: round(random.skewed(0, 4)),
    curratio: round(random.between(0.4, 2.4) + random.skewed(0, 4)),
    div: profitable && random.next() > 0.42 ? round(random.between(0.3, 4.6) + random.skewed(0, 5)) : 0,
  };
}

function performance(random) {
  const perf1w = round(random.bell(0.2, 9));
  const perf4w = round(perf1w + random.bell(0.6, 16));
  const perf13w = round(perf4w + random.bell(1.5, 22));
  const perf26w = round(perf13w + random.bell(2, 28));
  const perf52w = round(Math.max(-92, perf26w + random.bell(6, 40) + random.skewed(0, 60)));
  const perfytd = round(perf13w * 0.5 + random.bell(2, 18));
  return { perf1w, perf4w, perf13w: Math.max(-88, perf13w), perf26w: Math.max(-90, perf26w), perf52w, perfytd };
}

function technicals(random, perf) {
  return {
    rsi: round(Math.min(89, Math.max(11, 50 + perf.perf4w * 0.7 + random.bell(0, 14)))),
    sma50: round(perf.perf4w * 0.45 + random.bell(0, 7)),
    beta: round(random.between(0.1, 1.6) + random.skewed(0, 1.6)),
    high52: round(0 - Math.max(0, random.skewed(0, 70) - Math.max(0, perf.perf26w) * 0.2)),
    low52: round(random.skewed(0, 110) + Math.max(0, perf.perf26w) * 0.3),
    recom: round(random.between(1, 4) + random.skewed(0, 1), 1),
  };
}

function trading(random, cap) {
  const price = round(0.6 + random.skewed(0, 380) + random.between(0, 60));
  const scale = cap >= 10000 ? 5200 : cap >= 2000 ? 2100 : cap >= 300 ? 900 : 420;
  const avgvol = Math.round((20 + random.between(0, scale * 0.35) + random.skewed(0, scale * 2.4)) * 1000);
  const relvol = round(Math.max(0.06, random.bell(0.95, 0.85) + random.skewed(0, 2.4)));
  return { price, change: round(random.bell(0.1, 5.5)), avgvol, relvol, volume: Math.round(avgvol * relvol) };
}

function company(random, first, taken) {
  const [sector, sectorName, industries] = random.pick(SECTORS);
  const [industry, industryName, words] = random.pick(industries);
  const second = random.pick(words.split(' '));
  const [country, countryName] = random.weighted(COUNTRIES);
  const [exchange, exchangeName] = random.weighted(EXCHANGES);
  const cap = marketCap(random);
  const perf = performance(random);
  return {
    ticker: symbolFor(first, second, taken),
    company: first + ' ' + second + (random.next() > 0.45 ? ' Inc' : random.next() > 0.5 ? ' Corp' : ' Group'),
    sector, sectorName, industry, industryName, country, countryName, exchange, exchangeName, cap,
    index: cap >= 30000 ? 'top100' : cap >= 4000 && random.next() > 0.3 ? 'broad500' : '',
    ...valuation(random), ...trading(random, cap), ...perf, ...technicals(random, perf),
  };
}

function listing() {
  const random = generator(SEED);
  const names = random.shuffled(STARTS.flatMap((start) => ENDS.map((end) => start + end)));
  const taken = new Set(AVOIDED);
  return names.slice(0, COMPANIES)
    .map((name) => company(random, name, taken))
    .sort((one, other) => (one.ticker < other.ticker ? -1 : 1));
}

const choices = (list) => list.map(([value, label]) => [value, label]);

export const stocks = listing();
export const sectors = choices(SECTORS);
export const industries = SECTORS.flatMap((sector) => choices(sector[2])).sort((one, other) => (one[1] < other[1] ? -1 : 1));
export const countries = choices(COUNTRIES);
export const exchanges = choices(EXCHANGES);
export const stockOf = (ticker) => stocks.find((stock) => stock.ticker === ticker);

/** A price history of the last sixty trading days for the chart of a quote, ending at the current price. */
export function historyOf(stock) {
  let seed = SEED;
  for (const letter of stock.ticker) seed = Math.imul(seed, 31) + letter.charCodeAt(0);
  const random = generator(seed);
  const start = stock.price / (1 + stock.perf13w / 100);
  return Array.from({ length: 60 }, (_, day) => {
    const line = start + ((stock.price - start) * day) / 59;
    return day === 59 ? stock.price : Math.max(0.01, line + random.bell(0, stock.price * 0.045));
  });
}
