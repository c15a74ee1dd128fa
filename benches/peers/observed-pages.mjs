// Pages as people meet them, with a known number of controls that fit into 1280x720.

const times = (count, make) => Array.from({ length: count }, (_, index) => make(index)).join('');
const page = (title, style, body) =>
  `<!doctype html><html lang=en><title>${title}</title><style>body{margin:12px;font:14px/1.4 sans-serif}${style}</style>${body}`;
const FIRST = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Ken', 'Radia', 'Tim'];
const GOODS = ['Walking boots', 'Rain jacket', 'Tent for two', 'Camping stove', 'Sleeping bag', 'Head torch', 'Water filter', 'Trekking poles', 'Map case', 'Wool socks'];
const TAILWIND = 'inline-flex items-center justify-center rounded-md px-3 py-1 text-sm font-medium shadow-sm ring-1 ring-inset hover:bg-gray-50 focus-visible:outline';

/** A form of labelled fields, with lists and boxes to tick. */
const form = (controls) =>
  page(
    'Registration',
    'form{display:grid;grid-template-columns:repeat(4,1fr);gap:6px 16px}label{display:block;font-size:12px}input,select{display:block;height:24px}input[type=checkbox]{display:inline;height:14px}',
    `<h1>Registration</h1><form action="/register" method=post>${times(controls - 10, (i) => `<div class="field field--text"><label for="f${i}">${FIRST[i % 10]}'s field ${i}</label><input class="field__input js-validate" id="f${i}" name="person[${i}]" type=text required autocomplete=off placeholder="Enter a value"></div>`)}${times(5, (i) => `<div class=field><label for="s${i}">Choice ${i}</label><select id="s${i}" name="choice[${i}]"><option value="">Please choose<option value=a>First<option value=b>Second<option value=c>Third</select></div>`)}${times(4, (i) => `<div class=field><label><input type=checkbox name=agree value=${i}> I agree to term ${i}</label></div>`)}<button type=submit class="${TAILWIND}">Register</button></form>`,
  );

/** Cards with a link, a price and two buttons each, with the classes of a utility framework. */
const shop = (controls) =>
  page(
    'Outdoor shop',
    '.grid{display:grid;grid-template-columns:repeat(5,1fr);gap:10px}.card{border:1px solid #ddd;padding:6px}button,a{display:inline-block;margin:2px 0}',
    `<nav class="flex">${times(controls % 3, (i) => `<a class="${TAILWIND}" href="/category/${i}">Category ${i}</a> `)}</nav><div class="grid gap-4">${times(Math.floor(controls / 3), (i) => `<article class="card rounded-lg border bg-white p-4 shadow" data-sku="SKU-${1000 + i}"><a class="text-gray-900 font-semibold hover:underline" href="/product/${GOODS[i % 10].toLowerCase().replaceAll(' ', '-')}-${i}?ref=list">${GOODS[i % 10]} ${i}</a><p class="text-gray-500">${20 + i * 3}.90 €, in stock, delivery in two days</p><button class="${TAILWIND}" data-action="cart#add" data-cart-id="${1000 + i}">Add to basket</button> <button class="${TAILWIND}" aria-label="Remember ${GOODS[i % 10]} ${i}"><svg width=14 height=14 viewBox="0 0 24 24" fill=none stroke=currentColor><path d="M4.3 6.3a4.5 4.5 0 0 0 0 6.4L12 20.4l7.7-7.7a4.5 4.5 0 0 0-6.4-6.4L12 7.6l-1.3-1.3a4.5 4.5 0 0 0-6.4 0z"/></svg></button></article>`)}</div>`,
  );

/** A list of messages: a box to tick, a star, a subject and a button to delete in each row. */
const mail = (controls) =>
  page(
    'Inbox',
    'table{border-collapse:collapse;width:100%}td{padding:5px 8px;border-bottom:1px solid #eee;font-size:13px}button{font:inherit;padding:0 6px}',
    `<h1>Inbox</h1><table role=grid><tbody>${times(Math.floor(controls / 4), (i) => `<tr class="message message--unread" data-thread-id="t-${7000 + i}"><td><input type=checkbox aria-label="Select message ${i + 1}"></td><td><button class="star" aria-pressed=false aria-label="Star message ${i + 1}">☆</button></td><td><span class=sender>${FIRST[i % 10]} Example</span></td><td><a href="/mail/inbox/t-${7000 + i}" class="subject js-open-thread">Minutes of the meeting in week ${i + 1}</a> <span class=preview>Dear all, attached you find what we agreed on and who does what until then</span></td><td>${9 + (i % 8)}:3${i % 10}</td><td><button class="btn btn-icon btn-danger" type=button title="Delete message ${i + 1}">Delete</button></td></tr>`)}</tbody></table>${times(controls % 4, (i) => `<button class=btn>More ${i}</button> `)}`,
  );

/** Menus as lists of links. */
const menus = (controls) =>
  page(
    'Portal',
    '.all{display:grid;grid-template-columns:repeat(5,1fr);gap:10px}ul{list-style:none;margin:0;padding:0}li{margin:4px 0}',
    `<header><h1>Services of the town</h1></header><main class=all>${times(5, (column) => `<section class="nav-section" aria-labelledby="h${column}"><h2 id="h${column}">Department ${column + 1}</h2><ul class="nav-list">${times(Math.floor(controls / 5), (i) => `<li class="nav-list__item"><a class="nav-list__link" href="/services/department-${column + 1}/topic-${i + 1}.html">Apply for permit ${column + 1}.${i + 1}</a></li>`)}</ul></section>`)}</main>`,
  );

/** 2,000 small buttons in the viewport. */
const dense = () =>
  page(
    'Seats',
    'body{margin:2px;font:8px sans-serif}button{width:20px;height:14px;padding:0;margin:1px;font:inherit;border:1px solid #999}',
    times(2000, (i) => `<button data-seat="${i}">${i}</button>`),
  );

/** A table of 2,000 links, of which the viewport shows the first ones. */
const table = () =>
  page(
    'Register of companies',
    'td{border:1px solid #ccc;padding:1px 4px;font-size:12px}',
    `<table>${times(250, (row) => `<tr>${times(8, (column) => `<td><a class="cell-link" href="/register/entry/${row}/${column}?view=detail&amp;from=list">Entry ${row}/${column}</a></td>`)}</tr>`)}</table>`,
  );

const kinds = { form, shop, mail, menus };
export const PAGES = [
  ...[40, 50].flatMap((controls) =>
    Object.entries(kinds).map(([name, make]) => ({ name, controls, path: `/${name}/${controls}`, html: () => make(controls) })),
  ),
  { name: 'seats', controls: 2000, path: '/seats', html: dense },
  { name: 'table', controls: 2000, path: '/table', html: table },
];
