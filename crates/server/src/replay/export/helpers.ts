//- secret
/** A value that stands in the environment only. */
function secret(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set the environment variable ${name}.`);
  return value;
}

//- encoded
/** A value as a part of an address. */
function encoded(value: string): string {
  return encodeURIComponent(value);
}

//- isAt
/** Matches the recorded address: numbers and tokens in its path may differ, and there may be more parameters. */
function isAt(base: string, query: Record<string, string> = {}): (url: URL) => boolean {
  const plain = (text: string) => text.replace(/[([][\d.,+]+[)\]]/g, '').trim().replace(/\s+/g, ' ').toLowerCase();
  const isToken = (text: string) => /^[\w.=-]{16,}$/.test(text) && /\d/.test(text);
  const isId = (text: string) => /^\d+$/.test(text) || (/^[\da-f-]{8,}$/i.test(text) && /\d/.test(text)) || isToken(text);
  const wanted = new URL(base);
  const parts = (url: URL) => url.pathname.split('/').filter(Boolean);
  const isSame = (own: string, shown: string) => plain(own) === plain(shown);
  return (url) =>
    url.origin === wanted.origin &&
    parts(url).length === parts(wanted).length &&
    parts(wanted).every((part, at) => isSame(part, parts(url)[at]) || (isId(part) && isId(parts(url)[at]))) &&
    Object.entries(query).every(([name, value]) => {
      const shown = url.searchParams.get(name);
      return shown !== null && (isSame(value, shown) || (isToken(value) && isToken(shown)));
    });
}

//- Scope
type Scope = Page | FrameLocator | Locator;
type Role = Parameters<Page['getByRole']>[0];

//- control
/** The field, button, link or other control with a name. */
function control(at: Scope, name: string): Locator {
  const roles: Role[] = ['button', 'checkbox', 'combobox', 'link', 'listbox', 'menuitem', 'option', 'radio', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox'];
  return roles.map((role) => at.getByRole(role, { name, exact: true })).reduce((all, one) => all.or(one));
}

//- within
const CONTAINERS: Record<string, Role[]> = {
  row: ['row'],
  item: ['listitem', 'treeitem', 'option'],
  card: ['article', 'figure'],
  dialog: ['dialog', 'alertdialog'],
  form: ['form'],
  section: ['region', 'group', 'tabpanel'],
};

/** An element in the nearest row, item, card, dialog, form or section around it, which has to have this title. */
function within(page: Page, scope: Scope, kind: string, title: string, element: (at: Scope) => Locator): Locator {
  const any = (locators: Locator[]) => locators.reduce((all, one) => all.or(one));
  const roles = CONTAINERS[kind] ?? [];
  const containers = (at: Scope) => {
    const found = roles.map((role) => at.getByRole(role));
    if (kind === 'form') found.push(at.locator('form'));
    // Cards without a meaning of their own are elements with the classes of a neighbour; one may be marked by one more.
    const marked = ['preceding', 'following'].map((side) => `starts-with(@class, concat(${side}-sibling::*[1]/@class, " "))`);
    const alike = ['preceding', 'following'].map((side) => `@class = ${side}-sibling::*/@class`);
    if (kind === 'item') found.push(at.locator(`xpath=.//*[@class and (${[...alike, ...marked].join(' or ')})]`));
    return any(found);
  };
  const around = containers(page).filter({ has: element(page) });
  const nearest = containers(scope).filter({ has: element(page) }).filter({ hasNot: around });
  const text = title.split(/(")/).map((part) => (part === '"' ? `'"'` : `"${part}"`));
  const own = `xpath=.//text()[normalize-space(.) = normalize-space(concat(${text.join(', ')}, ""))]/..`;
  const titled = nearest.filter({ has: page.getByText(title, { exact: true }).or(page.locator(own)) });
  const named = any(roles.map((role) => scope.getByRole(role, { name: title, exact: true })));
  return element(titled.or(nearest.and(named)));
}

//- answerDialogs
type Answer = { type: string; message: string; accept: boolean; text?: string };

/** Answers the next dialogs of a page in this order. Another one is dismissed, and the test fails. */
function answerDialogs(page: Page, answers: Answer[]): Promise<void> {
  const plain = (text: string) => text.replace(/[([][\d.,+]+[)\]]/g, '').trim().replace(/\s+/g, ' ').toLowerCase();
  return new Promise((resolve, reject) => {
    const next = (at: number) =>
      page.once('dialog', async (dialog) => {
        const { type, message, accept, text } = answers[at];
        const isIt = dialog.type() === type && plain(dialog.message()) === plain(message);
        const isLast = at + 1 === answers.length;
        if (isIt && !isLast) next(at + 1);
        await (isIt && accept ? dialog.accept(text) : dialog.dismiss());
        if (!isIt) reject(new Error(`expected the ${type} "${message}", got the ${dialog.type()} "${dialog.message()}"`));
        else if (isLast) resolve();
      });
    next(0);
  });
}

//- isShown
/** Waits until an element is shown or, if it is not, until what comes after it is. */
async function isShown(element: Locator, after?: Locator): Promise<boolean> {
  const either = after ? element.or(after) : element;
  await either.first().waitFor({ timeout: 5_000 }).catch(() => undefined);
  return element.isVisible();
}
