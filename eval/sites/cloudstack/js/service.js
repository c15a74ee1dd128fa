/** CloudStack console: page of a service that this workspace does not use yet. */
(function () {
  'use strict';
  const { find, badge, toast, PRODUCTS } = window.cloud;
  const code = (new URLSearchParams(location.search).get('code') || '').toUpperCase();
  const entry = PRODUCTS.find((other) => other.code === code) || PRODUCTS.find((other) => other.code === 'CCS');

  document.title = `${entry.name} · CloudStack`;
  find('#service-group').textContent = `${entry.category} / ${entry.code}`;
  find('#service-name').textContent = entry.name;
  find('#service-badge').innerHTML = badge(entry);
  find('#service-text').textContent = entry.text;
  find('#activate').addEventListener('click', () => {
    tracker.track('service_request', { product: entry.code.toLowerCase() });
    find('#activate').disabled = true;
    toast('Request sent to the owner of the workspace.');
  });
})();
