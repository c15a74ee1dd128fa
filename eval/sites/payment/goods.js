// Goods, coupons and prices; amounts are in cents.
(function () {
  'use strict';

  const glow = '<ellipse cx="115" cy="92" rx="70" ry="52" fill="#ffe9bd" opacity=".8"/>';
  const draw = (back, shapes) => `<svg viewBox="0 0 230 200" aria-hidden="true"><rect width="230" height="200" fill="${back}"/><path d="M0 164h230v36H0z" fill="#000" opacity=".06"/>${shapes}</svg>`;
  const candles = (count) => Array.from({ length: count }, (_, index) => {
    const x = 115 - count * 13 + index * 26;
    const height = 62 + (index * 17) % 30;
    return `<rect x="${x}" y="${166 - height}" width="18" height="${height}" rx="4" fill="#e9b44c"/><path d="M${x + 9} ${163 - height}v-7" stroke="#5b4636" stroke-width="2"/><path d="M${x + 9} ${138 - height}c6 8 6 16 0 18-6-2-6-10 0-18z" fill="#f3863b"/>`;
  }).join('');

  const GOODS = [
    { sku: 'MOTH-T', name: 'Moth table lamp', cents: 6400,
      art: draw('#efe3d3', glow + '<path d="M82 98 98 48h34l16 50z" fill="#f7f1e4" stroke="#c9b597"/><path d="M112 98h6v54h-6z" fill="#8a6b4c"/><rect x="86" y="152" width="58" height="12" rx="6" fill="#6d5138"/>') },
    { sku: 'MOTH-F', name: 'Moth floor lamp', cents: 14900,
      art: draw('#e8e2d8', '<ellipse cx="115" cy="56" rx="62" ry="44" fill="#ffe9bd" opacity=".8"/><path d="M92 60 103 26h24l11 34z" fill="#f7f1e4" stroke="#c9b597"/><path d="M113 60h4v100h-4z" fill="#5b5148"/><path d="m115 128-24 38M115 128l24 38" stroke="#5b5148" stroke-width="5"/>') },
    { sku: 'EMBER-4', name: 'Ember beeswax candles, set of 4', cents: 1800, art: draw('#f3ead9', candles(4)) },
    { sku: 'TERN', name: 'Tern kettle', cents: 4850,
      art: draw('#dfe7e4', '<path d="M70 158c-8-40 6-72 45-72s53 32 45 72z" fill="#466a70"/><path d="M156 112l30-20-4 30-22 18z" fill="#3a5960"/><path d="M82 92c6-46 60-46 66 0" fill="none" stroke="#2c4449" stroke-width="8"/><circle cx="115" cy="82" r="7" fill="#d9b98a"/>') },
    { sku: 'DUNE', name: 'Dune vase', cents: 3200,
      art: draw('#f0dfd3', '<path d="M97 74h36l-4 22c22 14 26 50 8 70H93c-18-20-14-56 8-70z" fill="#c98b6b"/><path d="M115 76c-4-26-22-34-30-40M115 76c2-30 14-38 26-46M115 76c0-20 0-38 2-54" stroke="#6f7f56" stroke-width="3" fill="none"/><circle cx="84" cy="34" r="7" fill="#e7c9a0"/><circle cx="142" cy="29" r="7" fill="#e7c9a0"/><circle cx="117" cy="20" r="7" fill="#e7c9a0"/>') },
    { sku: 'HEATH', name: 'Heath wool blanket', cents: 8900,
      art: draw('#e4dfe8', '<rect x="44" y="108" width="142" height="28" rx="12" fill="#7d6b91"/><rect x="44" y="82" width="142" height="28" rx="12" fill="#94809f"/><rect x="44" y="136" width="142" height="28" rx="12" fill="#66567a"/><path d="M62 84v78M84 84v78M146 84v78M168 84v78" stroke="#e9dff0" stroke-width="3" opacity=".7"/>') },
    { sku: 'EMBER-6', name: 'Ember beeswax candles, set of 6', cents: 2500, art: draw('#f1e4d0', candles(6)) },
    { sku: 'OAK', name: 'Oak serving tray', cents: 4100,
      art: draw('#e3e8da', '<ellipse cx="115" cy="134" rx="82" ry="30" fill="#8c6239"/><ellipse cx="115" cy="128" rx="82" ry="30" fill="#b98a58"/><ellipse cx="115" cy="127" rx="70" ry="23" fill="#c99b69"/><path d="M66 120c30-8 66-8 98 0M60 130c40-6 74-6 110 2" stroke="#a97c4c" stroke-width="2" fill="none"/><path d="M92 112c0-22 6-32 23-32s23 10 23 32c0 10-46 10-46 0z" fill="#f4efe6"/>') },
  ];

  const COUPONS = {
    HEARTH15: { from: 6000, off: (cents) => Math.round(cents * 0.15), note: '15 % off orders from $60' },
    PORCH5: { expired: true },
  };

  window.goods = Object.freeze({ GOODS, COUPONS, DELIVERY: 495, PICKUP: 195, WRAP: 400 });
})();
