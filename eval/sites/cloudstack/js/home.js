/** CloudStack home page: popular products and the offer shown once a session. */
(function () {
  'use strict';
  const { find, badge, openDialog, read, write, PRODUCTS } = window.cloud;
  const POPULAR = ['ECS', 'OSS', 'RDS', 'VPC', 'SLB', 'CDN', 'CCS', 'CMS'];

  find('#popular').innerHTML = POPULAR.map((code) => PRODUCTS.find((entry) => entry.code === code)).map((entry) =>
    `<article class="card product"><div class="row">${badge(entry)}<h3>${entry.name}</h3></div><p>${entry.text}</p></article>`).join('');

  if (!read(sessionStorage, 'cloud.offer', false)) {
    write(sessionStorage, 'cloud.offer', true);
    openDialog('offer', 'Start with 200 free credits', `<p>New workspaces get 200 credits for the first sixty days, enough for two instances, a database and a bucket.</p>
      <div class="row"><a class="button primary" href="pricing.html">See prices</a><button type="button" data-close>Maybe later</button></div>`,
    { quiet: true, art: '<div class="promo-art" aria-hidden="true">200</div>' });
  }
})();
