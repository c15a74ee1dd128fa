// Grantley Bay Register: masthead, story lists, search form and reading progress.
'use strict';

const sections = [
  ['home', 'Top stories', '/gbr/'],
  ['business', 'Business', '/gbr/business.html'],
  ['markets', 'Markets', '/gbr/markets.html'],
  ['technology', 'Technology', '/gbr/technology.html'],
  ['opinion', 'Opinion', '/gbr/opinion.html'],
  ['world', 'World', '/gbr/world.html'],
  ['culture', 'Culture', '/gbr/culture.html'],
];
const currentSection = document.body.dataset.section || '';
const slug = document.body.dataset.slug || '';
const PENDING_SEARCH = 'gbr-pending-search';

window.tracker = new AgentTracker('gbr', 'easy');
// The template of the results page is only of use when the server has filled it.
if (location.pathname === '/gbr/search.html') location.replace('/gbr/');

const normalise = (text) => text.trim().replace(/\s+/g, ' ').toLowerCase();
const labelOf = (section) => (sections.find(([id]) => id === section) || ['', 'News'])[1];

function escapeHtml(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c]));
}

function formatDate(isoDate) {
  const options = { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' };
  return new Date(isoDate + 'T12:00:00Z').toLocaleDateString('en-GB', options);
}

function renderMasthead() {
  const links = sections.map(([id, label, href]) => {
    const current = id === currentSection && !slug ? ' aria-current="page"' : '';
    return `<li><a href="${href}"${current}>${label}</a></li>`;
  });
  const header = document.createElement('header');
  header.className = 'masthead';
  header.innerHTML = `
    <div class="strip">
      <span class="date">${formatDate(window.evalRun.today)}</span>
      <a class="brand" href="/gbr/"><b>GBR</b> <span>Grantley Bay Register</span></a>
      <button id="search-toggle" type="button" aria-label="Search" aria-expanded="false" aria-controls="search-panel">
        <svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5"/><path d="M15.5 15.5 21 21"/></svg>
      </button>
    </div>
    <nav aria-label="Sections"><ul>${links.join('')}</ul></nav>
    <div id="search-panel" hidden>
      <form id="search-form" role="search" action="/gbr/search" method="get">
        <label for="search-input">Search the Register</label>
        <input id="search-input" name="q" type="search" autocomplete="off" placeholder="People, places, companies">
        <button id="search-submit" type="submit">Search</button>
      </form>
    </div>`;
  document.body.prepend(header);
}

function renderFooter() {
  const footer = document.createElement('footer');
  footer.className = 'footer';
  footer.innerHTML = `
    <div class="footer-inner">
      <div><b>GBR</b><p>Grantley Bay Register. Independent, printed on weekdays, read on the ferry.</p></div>
      <form id="subscribe-form" novalidate>
        <label for="subscribe-email">The morning letter, six days a week</label>
        <div><input id="subscribe-email" type="email" placeholder="you@example.com" autocomplete="off"><button type="submit">Subscribe</button></div>
        <p role="status"></p>
      </form>
    </div>`;
  document.body.append(footer);
}

function wireSearch() {
  const toggle = document.getElementById('search-toggle');
  const panel = document.getElementById('search-panel');
  const input = document.getElementById('search-input');
  let enterPressed = false;

  toggle.addEventListener('click', () => {
    panel.hidden = !panel.hidden;
    toggle.setAttribute('aria-expanded', String(!panel.hidden));
    tracker.track('search_toggle', { open: !panel.hidden });
    if (!panel.hidden) input.focus();
  });
  input.addEventListener('keydown', (event) => { enterPressed = event.key === 'Enter'; });
  input.addEventListener('keyup', () => { enterPressed = false; });
  document.getElementById('search-form').addEventListener('submit', (event) => {
    const query = normalise(input.value);
    if (!query) {
      event.preventDefault();
      return;
    }
    tracker.track('input', { element: 'input', elementId: input.id, value: query, valueLength: query.length });
    tracker.track('search_submit', { query, via: enterPressed ? 'enter' : 'button' });
    sessionStorage.setItem(PENDING_SEARCH, query);
  });
}

function wireSubscription() {
  const form = document.getElementById('subscribe-form');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const email = form.querySelector('input');
    const status = form.querySelector('[role="status"]');
    if (!/^\S+@\S+\.\S+$/.test(email.value.trim())) {
      status.textContent = 'Please enter a complete e-mail address.';
      return;
    }
    tracker.track('subscribe', { valueLength: email.value.trim().length });
    status.textContent = 'Thank you. The first letter arrives tomorrow.';
    email.value = '';
  });
}

/** Reports a results page only if it was reached through the search form. */
function reportSearchResults() {
  const query = sessionStorage.getItem(PENDING_SEARCH);
  sessionStorage.removeItem(PENDING_SEARCH);
  const results = document.getElementById('results');
  if (results && query) tracker.track('search_results', { query, found: Number(results.dataset.count) });
}

/** Where the link was that led to this page; `direct` without a link on this site. */
function arrival() {
  if (!document.referrer) return { from: 'direct' };
  const referrer = new URL(document.referrer);
  if (referrer.origin !== location.origin || !referrer.pathname.startsWith('/gbr/')) return { from: 'direct' };
  if (referrer.pathname === '/gbr/search') {
    return { from: 'search', query: normalise(referrer.searchParams.get('q') || '') };
  }
  if (referrer.pathname.startsWith('/gbr/articles/')) return { from: 'article' };
  return { from: /^\/gbr\/(index\.html)?$/.test(referrer.pathname) ? 'home' : 'section' };
}

function wireArticle() {
  const source = arrival();
  const details = { slug, section: currentSection, ...source };
  const [entry] = performance.getEntriesByType('navigation');
  if (source.from !== 'direct' && (!entry || entry.type === 'navigate')) tracker.track('article_open', details);

  const end = document.querySelector('.story-body > p:last-of-type');
  function onScroll() {
    if (end.getBoundingClientRect().bottom > window.innerHeight) return;
    window.removeEventListener('scroll', onScroll);
    tracker.track('article_read', details);
  }
  window.addEventListener('scroll', onScroll, { passive: true });
}

function card(article, className) {
  return `<article class="card ${className}">
    <a class="thumb" href="${article.href}" tabindex="-1" aria-hidden="true" data-art="${article.art}"></a>
    <div><h2><a href="${article.href}">${escapeHtml(article.title)}</a></h2>
    <p class="summary">${escapeHtml(article.summary)}</p>
    <p class="byline">${escapeHtml(article.author)} · ${article.age}</p></div>
  </article>`;
}

function headlines(articles, [section, label, href]) {
  const items = articles.filter((a) => a.section === section).slice(0, 3);
  return `<section class="column"><h2><a href="${href}">${label}</a></h2><ul>${items
    .map((a) => `<li><a href="${a.href}">${escapeHtml(a.title)}</a><span>${a.age}</span></li>`)
    .join('')}</ul></section>`;
}

function renderFront(main, articles) {
  const [lead, ...others] = articles.filter((a) => a.section === 'home');
  main.innerHTML = `<h1 class="visually-hidden">Top stories</h1>
    <div class="front">${card(lead, 'lead')}<div class="front-side">${others.map((a) => card(a, 'small')).join('')}</div></div>
    <div class="columns">${sections.slice(1).map((s) => headlines(articles, s)).join('')}</div>`;
}

function renderSection(main, articles) {
  const own = articles.filter((a) => a.section === currentSection);
  main.innerHTML = `<h1 class="section-title">${labelOf(currentSection)}</h1>
    <div class="section-list">${own.map((a, i) => card(a, i === 0 ? 'lead' : 'medium')).join('')}</div>`;
}

function renderRelated(articles) {
  const [, label, href] = sections.find(([id]) => id === currentSection);
  const others = articles.filter((a) => a.section === currentSection && a.slug !== slug);
  const aside = document.createElement('aside');
  aside.className = 'related';
  aside.innerHTML = `<h2>More from <a href="${href}">${label}</a></h2><ul>${others
    .map((a) => `<li><a href="${a.href}">${escapeHtml(a.title)}</a></li>`)
    .join('')}</ul>`;
  document.querySelector('main').append(aside);
}

async function renderLists() {
  const main = document.querySelector('main');
  const answer = await fetch('/gbr/articles.json');
  const articles = await answer.json();
  if (slug) renderRelated(articles);
  else if (currentSection === 'home') renderFront(main, articles);
  else renderSection(main, articles);
  drawIllustrations(main);
}

renderMasthead();
renderFooter();
wireSearch();
wireSubscription();
reportSearchResults();
drawIllustrations(document);
if (slug) wireArticle();
if (currentSection) renderLists();
