// The five sites: what is on their pages, what a person does there, and the text of the routine.
//
// A page is a list of parts, which a mutation changes before they are rendered; whatever a button does is a request that the site notes.
// `acts` are the requests of the task, in order.

export const button = (name, act, more = {}) => ({ kind: 'button', name, act, ...more });
const field = (label, more = {}) => ({ kind: 'field', label, ...more });
const check = (label, more = {}) => ({ kind: 'check', label, ...more });
const choice = (label, options, more = {}) => ({ kind: 'choice', label, options, ...more });
const group = (kind, title, parts, more = {}) => ({ kind, title, parts, ...more });

const on = (role, name, more = {}) => ({ role, name, ...more });

const invoice = (number, customer, amount) =>
  group('row', `Invoice ${number}`, [button('Archive', `archive ${number}`), button('Send', `send ${number}`)], {
    cells: [customer, amount],
  });

const product = (title, price) => group('card', title, [button('Add to cart', `add ${title}`)], { text: price });

const ticket = (title) =>
  group('card', title, [button('Close', undefined, { opens: `Close “${title}”` })], { text: 'Open since Monday' });

const room = (title, seats) =>
  group('row', title, [button('Book', `book ${title}`, { confirm: `Book ${title}?` })], { cells: [`${seats} seats`] });

export const SITES = [
  {
    name: 'invoices',
    page: () => [
      group('form', 'Filter', [
        field('Customer', { id: 'customer' }),
        choice('Status', ['All', 'Due'], { id: 'status' }),
        button('Show', 'show', { sends: ['customer', 'status'], goes: '/found' }),
      ]),
      group('table', 'Invoices', [invoice(1001, 'Ada', '120 €'), invoice(1002, 'Ada', '75 €'), invoice(1003, 'Ada', '310 €')], {
        id: 'list',
        path: '/found',
      }),
    ],
    text: [
      ['Fill in the filter', 'Type Ada into Customer and set Status to Due.'],
      ['Show the invoices', 'Press Show.'],
      ['Archive it', 'Press Archive in the row Invoice 1002.'],
    ],
    work: [
      [
        { kind: 'fill', at: on('textbox', 'Customer'), value: 'Ada' },
        { kind: 'choose', at: on('combobox', 'Status'), value: 'Due' },
      ],
      [{ kind: 'click', at: on('button', 'Show') }],
      [{ kind: 'click', at: on('button', 'Archive', { in: on('row', 'Invoice 1002') }) }],
    ],
    acts: ['show Ada Due', 'archive 1002'],
  },
  {
    name: 'shop',
    page: () => [
      group('list', 'Kettles', [product('Red kettle', '19 €'), product('Blue kettle', '42 €'), product('Small kettle', '15 €')]),
      group('form', 'Your order', [
        check('Gift wrap', { id: 'gift' }),
        button('Place order for 42 €', 'order 42', { sends: ['gift'], testId: 'place-order' }),
        button('Save for later', 'later'),
      ]),
    ],
    text: [
      ['Add the kettle', 'Press Add to cart of Blue kettle.'],
      ['Wrap it', 'Check Gift wrap.'],
      ['Order', 'Press Place order for 42 €.'],
    ],
    work: [
      [{ kind: 'click', at: on('button', 'Add to cart', { in: on('card', 'Blue kettle') }) }],
      [{ kind: 'check', at: on('checkbox', 'Gift wrap') }],
      [{ kind: 'click', at: on('button', 'Place order for 42 €') }],
    ],
    acts: ['add Blue kettle', 'order 42 true'],
  },
  {
    name: 'settings',
    page: () => [
      group('form', 'Profile', [field('Name', { id: 'name', value: 'Robin' }), button('Save', 'save profile')]),
      group('frame', 'Notifications', [
        check('Weekly summary', { id: 'weekly' }),
        choice('Language', ['English', 'German'], { id: 'language' }),
        button('Save', 'save notifications', { sends: ['weekly', 'language'], testId: 'save' }),
      ]),
    ],
    text: [
      ['Choose the summary', 'In the notifications, check Weekly summary and set Language to German.'],
      ['Save', 'Press Save in the notifications.'],
    ],
    work: [
      [
        { kind: 'check', at: on('checkbox', 'Weekly summary', { frame: 'Notifications' }) },
        { kind: 'choose', at: on('combobox', 'Language', { frame: 'Notifications' }), value: 'German' },
      ],
      [{ kind: 'click', at: on('button', 'Save', { frame: 'Notifications' }) }],
    ],
    acts: ['save notifications true German'],
  },
  {
    name: 'tickets',
    page: () => [
      group('list', 'Tickets', [ticket('No tea'), ticket('Printer on fire'), ticket('Slow door')]),
      ...['No tea', 'Printer on fire', 'Slow door'].map((title) =>
        group(
          'dialog',
          `Close “${title}”`,
          [
            field('Reason', { id: `reason-${title}` }),
            button('Keep open', `keep ${title}`),
            button('Close ticket', `close ${title}`, { sends: [`reason-${title}`], testId: 'close-ticket' }),
          ],
        ),
      ),
    ],
    text: [
      ['Open the dialog', 'Press Close of Printer on fire.'],
      ['Say why', 'Type solved into Reason.'],
      ['Close it', 'Press Close ticket.'],
    ],
    work: [
      [{ kind: 'click', at: on('button', 'Close', { in: on('card', 'Printer on fire') }) }],
      [{ kind: 'fill', at: on('textbox', 'Reason', { in: on('dialog', 'Close “Printer on fire”') }), value: 'solved' }],
      [{ kind: 'click', at: on('button', 'Close ticket', { in: on('dialog', 'Close “Printer on fire”') }) }],
    ],
    acts: ['close Printer on fire solved'],
  },
  {
    name: 'rooms',
    page: () => [
      group('form', 'When', [field('Day', { id: 'day' }), button('Search', 'search', { sends: ['day'], reveals: 'rooms' })]),
      group('table', 'Rooms', [room('Room Ash', 4), room('Room Elm', 8), room('Room Oak', 12)], { id: 'rooms', hidden: true }),
    ],
    text: [
      ['Search', 'Type Monday into Day and press Search.'],
      ['Book', 'Press Book in the row Room Elm, and accept the dialog.'],
    ],
    work: [
      [
        { kind: 'fill', at: on('textbox', 'Day'), value: 'Monday' },
        { kind: 'click', at: on('button', 'Search') },
      ],
      [{ kind: 'click', at: on('button', 'Book', { in: on('row', 'Room Elm') }), dialog: 'accept' }],
    ],
    acts: ['search Monday', 'book Room Elm'],
  },
];

/** Each part, with the containers around it, outermost first. */
export function* parts(page, around = []) {
  for (const part of page) {
    yield { part, around, siblings: page };
    if (part.parts) yield* parts(part.parts, [...around, part]);
  }
}
