/** CloudStack: header, footer and dialogs of the pages for visitors. */
(function () {
  'use strict';
  const { find, findAll, build, icon, logo, openDialog, read, write, toast, escape, fillDays } = window.cloud;

  const LINKS = [['products.html', 'Products'], ['pricing.html', 'Pricing'], ['docs.html', 'Docs'], ['support.html', 'Support']];
  const LANGUAGES = ['English', 'Deutsch', 'Español', 'Français', '日本語', 'Português'];
  const here = location.pathname.split('/').pop() || 'index.html';
  const current = (page) => (page === here ? 'aria-current="page"' : '');

  const header = () => `<header class="top">
    <a class="brand" href="index.html">${logo}CloudStack</a>
    <nav aria-label="Main">${LINKS.map(([page, name]) => `<a href="${page}" ${current(page)}>${name}</a>`).join('')}</nav>
    <button type="button" class="icon" data-dialog="language" aria-label="Language">${icon('globe')}</button>
    <button type="button" class="icon" data-dialog="news" aria-label="Announcements">${icon('bell')}</button>
    <span id="account" class="row"></span>
    <a class="button primary" href="console.html" id="console-link">Console</a>
  </header>`;

  const column = (title, links) => `<div><b>${title}</b>${links.map(([page, name]) => `<a href="${page}">${name}</a>`).join('')}</div>`;
  const footer = () => `<footer class="bottom"><div class="wrap">
    <div class="cols">
      <div><b>CloudStack</b>Infrastructure for teams that would rather build products than run data centres.</div>
      ${column('Products', [['products.html', 'All products'], ['pricing.html', 'Pricing']])}
      ${column('Resources', [['docs.html', 'Documentation'], ['support.html', 'Support centre'], ['support.html#ticket', 'Open a ticket']])}
      ${column('Company', [['about.html', 'About us'], ['about.html#jobs', 'Careers'], ['about.html#legal', 'Terms and privacy']])}
    </div>
    <div class="legal">CloudStack is a fictional company. Prices and figures on these pages are examples.</div>
  </div></footer>`;

  function drawAccount() {
    const user = read(localStorage, 'cloud.user', null);
    find('#account').innerHTML = user
      ? `<span class="small">${escape(user)}</span><button type="button" data-logout>Log out</button>`
      : '<button type="button" data-dialog="login">Log in</button><button type="button" data-dialog="register">Sign up</button>';
  }

  const field = (id, label, type, extra = '') => `<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${id}" type="${type}" ${extra}></div>`;
  const form = (name, fields, button) => `<form id="${name}-form" novalidate class="form">${fields}<p class="error" role="alert"></p><button class="primary">${button}</button></form>`;
  const DIALOGS = {
    login: ['Log in', form('login', field('login-email', 'E-mail', 'email', 'autocomplete="off"') + field('login-password', 'Password', 'password', 'autocomplete="off"'), 'Log in') + '<p class="small soft">The console opens without an account as a demo workspace.</p>'],
    register: ['Create an account', form('register', field('register-email', 'Work e-mail', 'email', 'autocomplete="off"') + field('register-company', 'Company', 'text') + field('register-password', 'Password (8 characters or more)', 'password', 'autocomplete="off"'), 'Create account')],
    language: ['Language', `<div class="chips">${LANGUAGES.map((name) => `<button type="button" data-language="${name}">${name}</button>`).join('')}</div>`],
    news: ['Announcements', fillDays(`<ul class="prose" style="padding:0;list-style:none">
      <li><b>Memory instances of the sixth generation</b><br><span class="small soft">{day-4} · In all regions, 18 % faster at the same price.</span></li>
      <li><b>Object storage: lower price for infrequent access</b><br><span class="small soft">{day-11} · From the first of next month.</span></li>
      <li><b>New region Southbay</b><br><span class="small soft">{day-26} · Two zones are open, the third follows.</span></li></ul>`)],
  };

  function checkForm(name, data) {
    const email = String(data.get(`${name}-email`));
    if (!/^\S+@\S+\.\S+$/.test(email)) return 'Enter a valid e-mail address.';
    if (name === 'register' && !String(data.get('register-company')).trim()) return 'Enter your company.';
    const least = name === 'register' ? 8 : 1;
    if (String(data.get(`${name}-password`)).length < least) return least > 1 ? 'The password is too short.' : 'Enter your password.';
    return '';
  }

  function openNamed(name) {
    const [title, body] = DIALOGS[name];
    const { dialog, close } = openDialog(name, title, body);
    const target = find('form', dialog);
    if (target) target.addEventListener('submit', (event) => {
      event.preventDefault();
      const data = new FormData(target);
      const problem = checkForm(name, data);
      find('.error', target).textContent = problem;
      if (problem) return;
      write(localStorage, 'cloud.user', String(data.get(`${name}-email`)));
      tracker.track(`${name}_complete`, {});
      close('done');
      drawAccount();
    });
    findAll('[data-language]', dialog).forEach((button) => button.addEventListener('click', () => {
      tracker.track('language_select', { language: button.dataset.language });
      close('done');
      toast(button.dataset.language === 'English' ? 'Language: English' : `${button.dataset.language} is being prepared. The page stays in English.`);
    }));
  }

  function showCookies() {
    if (read(localStorage, 'cloud.cookies', false)) return;
    const box = build(`<section class="cookies" aria-label="Cookies"><b>We use cookies</b><p class="soft">They keep your session and remember your language. Nothing else.</p>
      <div class="row" style="margin-top:10px"><button type="button" class="primary">Accept</button><a href="about.html#legal">Read more</a></div></section>`);
    find('button', box).addEventListener('click', () => {
      write(localStorage, 'cloud.cookies', true);
      tracker.track('cookies_accept', {});
      box.remove();
    });
    document.body.append(box);
  }

  document.body.prepend(build(header()));
  document.body.append(build(footer()));
  drawAccount();
  showCookies();

  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target.closest('[data-dialog], [data-logout]') : null;
    if (!target) return;
    if (target.dataset.dialog) return openNamed(target.dataset.dialog);
    localStorage.removeItem('cloud.user');
    tracker.track('logout', {});
    drawAccount();
  });
})();
