// Draws the pictures of notes as SVG. Every picture is 300 by 400; covers show its middle.

import { pick, random } from './random.js';

const range = (count) => Array.from({ length: count }, (_, index) => index);
const tag = (name, attributes, content = '') =>
  `<${name} ${Object.entries(attributes).map(([key, value]) => `${key}="${value}"`).join(' ')}>${content}</${name}>`;
const rect = (x, y, width, height, fill, more) => tag('rect', { x, y, width, height, fill, ...more });
const circle = (cx, cy, r, fill, more) => tag('circle', { cx, cy, r, fill, ...more });
const path = (d, fill, more) => tag('path', { d, fill, ...more });
const line = (d, stroke, width, more) => path(d, 'none', { stroke, 'stroke-width': width, 'stroke-linecap': 'round', ...more });

function bread(rng) {
  const [wall, table, crust, flour] = pick(rng, [
    ['#f4d9b4', '#b98555', '#c2763a', '#fff3df'],
    ['#d8e2dc', '#7d8f86', '#b5692f', '#fffaf0'],
    ['#f2c6a0', '#8a5a3c', '#a85a2a', '#ffe9cf'],
    ['#c9d6df', '#52616b', '#c98546', '#f7f3ea'],
  ]);
  const width = 82 + rng() * 30;
  const height = 58 + rng() * 26;
  const cuts = 2 + Math.floor(rng() * 3);
  const scores = range(cuts).map((index) => {
    const x = 150 + (index - (cuts - 1) / 2) * 38;
    return line(`M${x - 16} ${236 - height * 0.7} q14 ${height * 0.3} 22 ${height * 0.75}`, flour, 6);
  });
  const dust = range(26).map(() => circle(30 + rng() * 240, 262 + rng() * 70, 1 + rng() * 2.5, flour, { opacity: 0.8 }));
  return [
    rect(0, 0, 300, 400, wall),
    circle(60 + rng() * 180, 96, 46, '#ffffff', { opacity: 0.25 }),
    rect(0, 244, 300, 156, table),
    path('M30 262 h240 l-14 22 h-212z', '#00000022'),
    path(`M${150 - width} 252 q-6 -${height * 1.5} ${width} -${height * 1.55} q${width + 6} 5 ${width} ${height * 1.55} q-4 18 -${width} 18 q-${width - 4} 0 -${width} -18z`, crust),
    ...scores, ...dust,
  ];
}

function train(rng) {
  const [top, bottom, hill, coach, light] = pick(rng, [
    ['#141a3c', '#4b4a86', '#0e1330', '#2347c5', '#ffd98a'],
    ['#0d2b45', '#3c6e8f', '#0a1f33', '#a83f39', '#ffe3a3'],
    ['#241432', '#94506f', '#1a0e26', '#26706a', '#ffcf8f'],
  ]);
  const stars = range(40).map(() => circle(rng() * 300, rng() * 220, 0.6 + rng() * 1.2, '#ffffff', { opacity: 0.4 + rng() * 0.6 }));
  const windows = range(6).map((index) => rect(6 + index * 50, 234, 32, 22, rng() < 0.75 ? light : '#ffffff22', { rx: 4 }));
  const peak = 120 + rng() * 50;
  const gradient = `g${Math.floor(rng() * 1e9)}`;
  return [
    `<defs><linearGradient id="${gradient}" x2="0" y2="1"><stop stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/></linearGradient></defs>`,
    rect(0, 0, 300, 400, `url(#${gradient})`),
    ...stars,
    circle(50 + rng() * 200, 110 + rng() * 30, 18, '#fff6d8'),
    path(`M0 260 L60 ${peak + 40} L110 ${peak + 70} L190 ${peak} L300 240 V300 H0z`, hill),
    rect(-10, 222, 320, 58, coach, { rx: 8 }),
    rect(-10, 264, 320, 5, '#ffffff55'),
    ...windows,
    ...range(7).map((index) => circle(20 + index * 44, 284, 8, '#0b0d18')),
    rect(0, 294, 300, 106, hill),
    rect(0, 300, 300, 3, '#ffffff44'),
    ...range(12).map((index) => rect(index * 26, 308, 12, 4, '#ffffff22')),
  ];
}

function chair(rng) {
  const [wall, floor, seat, lamp] = pick(rng, [
    ['#e7d8c9', '#b08968', '#6d597a', '#ffe8a3'],
    ['#cfe0e8', '#8d9db6', '#b56576', '#fff2b8'],
    ['#dfe7d3', '#a3a380', '#386641', '#fff0c2'],
  ]);
  const spines = range(9).map((index) => {
    const height = 34 + rng() * 16;
    return rect(24 + index * 13, 178 - height, 10, height, pick(rng, ['#355070', '#b56576', '#e56b6f', '#eaac8b', '#84a59d', '#f2cc8f']), { rx: 1.5 });
  });
  return [
    rect(0, 0, 300, 400, wall),
    rect(0, 286, 300, 114, floor),
    rect(168, 92, 104, 112, '#ffffff', { rx: 4 }),
    rect(176, 100, 88, 96, pick(rng, ['#a9d6e5', '#ffd6a5', '#bde0fe']), { rx: 2 }),
    rect(217, 100, 6, 96, '#ffffff'),
    rect(18, 178, 128, 7, floor),
    ...spines,
    circle(238, 214, 46, lamp, { opacity: 0.45 }),
    path('M216 222 l12 -32 h22 l12 32z', lamp),
    rect(237, 222, 4, 88, '#5a4a3f'),
    rect(70, 206, 100, 60, seat, { rx: 22 }),
    rect(58, 244, 124, 42, seat, { rx: 16, opacity: 0.92 }),
    rect(50, 228, 22, 58, seat, { rx: 10 }), rect(168, 228, 22, 58, seat, { rx: 10 }),
    rect(66, 286, 8, 22, '#4a3b30'), rect(166, 286, 8, 22, '#4a3b30'),
  ];
}

function plants(rng) {
  const [sky, wall, pot] = pick(rng, [
    ['#cdeac0', '#efe9ae', '#c8693b'],
    ['#bfdbf7', '#e1e5f2', '#b5543f'],
    ['#ffe5d9', '#d8e2dc', '#7f5539'],
  ]);
  const greens = ['#2d6a4f', '#40916c', '#52b788', '#588157', '#74c69d'];
  const pots = range(3).flatMap((index) => {
    const x = 62 + index * 88;
    const leaves = range(9).map(() => {
      const dx = (rng() - 0.5) * 70;
      const y = 130 + rng() * 60;
      return path(`M${x} 250 Q${x + dx * 0.3} ${y + 40} ${x + dx} ${y} Q${x + dx * 0.9 + 14} ${y + 44} ${x} 250z`, pick(rng, greens));
    });
    return [...leaves, path(`M${x - 32} 244 h64 l-9 58 h-46z`, pot), rect(x - 36, 238, 72, 13, pot, { rx: 3 }), rect(x - 36, 249, 72, 3, '#00000026')];
  });
  return [
    rect(0, 0, 300, 400, sky),
    circle(40 + rng() * 220, 100, 30, '#fff3b0'),
    rect(0, 302, 300, 98, wall),
    rect(0, 302, 300, 8, '#00000018'),
    ...pots,
    ...range(10).map((index) => rect(12 + index * 31, 322, 5, 78, '#00000014')),
  ];
}

function trail(rng) {
  const [sky, far, middle, near, way] = pick(rng, [
    ['#ffd7ba', '#b8a1c9', '#7f6a93', '#3d405b', '#f4f1de'],
    ['#d7f0f7', '#9cc5d3', '#5f93a5', '#29524a', '#f2e8cf'],
    ['#fde4cf', '#f1b5a0', '#c3736a', '#5b3c4e', '#ffe8d6'],
  ]);
  const ridge = (base, height) => `M0 400 V${base} ${range(6).map((index) => `L${index * 60 + 30} ${base - height * (0.4 + rng() * 0.6)} L${index * 60 + 60} ${base - height * rng() * 0.4}`).join(' ')} V400z`;
  const turn = (rng() - 0.5) * 90;
  return [
    rect(0, 0, 300, 400, sky),
    circle(70 + rng() * 160, 130, 26, '#ffffff', { opacity: 0.85 }),
    path(ridge(210, 70), far), path(ridge(246, 56), middle), path(ridge(286, 34), near),
    path(`M120 400 Q${150 + turn} 340 ${146 + turn * 0.4} 282 Q${152 + turn * 0.3} 280 ${156 + turn * 0.4} 282 Q${190 + turn} 340 190 400z`, way, { opacity: 0.85 }),
    circle(152 + turn * 0.4, 262, 5, '#e63946'),
    path(`M${148 + turn * 0.4} 268 h8 l2 16 h-12z`, '#e63946'),
  ];
}

function agent(rng) {
  const [back, pane, accent, soft] = pick(rng, [
    ['#10172a', '#1e293b', '#38bdf8', '#94a3b8'],
    ['#e0e7ff', '#ffffff', '#2347c5', '#a5b4fc'],
    ['#0f2e2a', '#164e48', '#5eead4', '#99c9c2'],
    ['#f5e9ff', '#ffffff', '#8338ec', '#cdb4db'],
  ]);
  const rows = range(7).map((index) => rect(66, 164 + index * 17, 40 + rng() * 110, 7, index === 3 ? accent : soft, { rx: 3.5, opacity: index === 3 ? 1 : 0.65 }));
  const dots = range(5).map((index) => {
    const x = 40 + index * 55;
    const y = 322 + (rng() - 0.5) * 36;
    return line(`M150 290 L${x} ${y}`, soft, 2, { opacity: 0.6 }) + circle(x, y, 8, index === 2 ? accent : soft);
  });
  return [
    rect(0, 0, 300, 400, back),
    ...range(5).map(() => circle(rng() * 300, rng() * 120, 20 + rng() * 40, accent, { opacity: 0.08 })),
    ...dots,
    rect(44, 112, 212, 180, pane, { rx: 14 }),
    circle(64, 132, 5, '#ef6f6c'), circle(80, 132, 5, '#f2c14e'), circle(96, 132, 5, '#5fad56'),
    ...rows,
    path(`M${196 + rng() * 20} 232 l0 34 l9 -8 l6 13 l7 -3 l-6 -13 l12 -1z`, accent),
  ];
}

function camera(rng) {
  const [back, body, trim] = pick(rng, [
    ['#e9d8a6', '#2b2d42', '#8d99ae'],
    ['#ffcdb2', '#3a2e39', '#d8b4a0'],
    ['#b7c9c2', '#1f2421', '#8aa39b'],
  ]);
  const holes = (x) => range(17).map((index) => rect(x, 6 + index * 24, 10, 13, back, { rx: 2 }));
  const glow = pick(rng, ['#4361ee', '#7209b7', '#f72585', '#2a9d8f']);
  return [
    rect(0, 0, 300, 400, back),
    rect(14, 0, 22, 400, '#00000088'), ...holes(20),
    rect(60, 144, 216, 136, body, { rx: 16 }),
    rect(60, 172, 216, 58, trim, { opacity: 0.35 }),
    path('M130 146 l12 -26 h52 l12 26z', body),
    rect(82, 130, 26, 16, trim, { rx: 4 }), rect(232, 134, 24, 12, trim, { rx: 3 }),
    circle(168, 212, 58, '#0c0c12'), circle(168, 212, 48, trim), circle(168, 212, 38, '#12121c'),
    circle(168, 212, 25, glow, { opacity: 0.75 }), circle(156, 200, 8, '#ffffff', { opacity: 0.7 }),
    circle(252, 162, 6, pick(rng, ['#e63946', '#ffd166'])),
  ];
}

function yarn(rng) {
  const [back, wool, dark] = pick(rng, [
    ['#fbe7e1', '#d1495b', '#a23344'],
    ['#e4efe7', '#2a9d8f', '#1d7168'],
    ['#ede7f6', '#7b5ea7', '#5a4180'],
    ['#fdf0d5', '#e09f3e', '#b3761d'],
  ]);
  const strands = range(7).map((index) => {
    const angle = index * 26 + rng() * 12;
    return tag('ellipse', { cx: 150, cy: 210, rx: 84, ry: 18 + index * 9, fill: 'none', stroke: dark, 'stroke-width': 3, opacity: 0.6, transform: `rotate(${angle} 150 210)` });
  });
  const stitches = range(44).map((index) => {
    const x = (index % 11) * 28 - 4;
    const y = 316 + Math.floor(index / 11) * 24;
    return line(`M${x} ${y} q7 10 14 16 q7 -6 14 -16`, wool, 7, { opacity: 0.75 });
  });
  return [
    rect(0, 0, 300, 400, back),
    line('M62 92 L232 318', '#9c6b3f', 7), line('M238 92 L70 318', '#b88655', 7),
    circle(62, 92, 8, '#6f4518'), circle(238, 92, 8, '#6f4518'),
    circle(150, 210, 86, wool),
    ...strands,
    line('M226 246 q40 30 18 66 q-30 22 -90 10', wool, 6),
    ...stitches,
  ];
}

function list(rng, slide) {
  const entries = slide.lines.map((text, index) =>
    rect(62, 176 + index * 34, 14, 14, 'none', { rx: 3, stroke: '#2347c5', 'stroke-width': 2 })
    + tag('text', { x: 88, y: 189 + index * 34, 'font-size': 17, fill: '#1b2340' }, text));
  return [
    rect(0, 0, 300, 400, '#dfe6ff'),
    rect(38, 104, 224, 220, '#ffffff', { rx: 12 }),
    tag('text', { x: 62, y: 146, 'font-size': 15, 'font-weight': 700, fill: '#2347c5' }, slide.heading),
    ...entries,
  ];
}

const PAINTERS = { bread, train, chair, plants, trail, agent, camera, yarn, list };

/** The picture of a slide as SVG text; `label` is what a screen reader says. */
export function draw(slide, label) {
  const rng = random(`${slide.art} ${slide.variant}`);
  rng();
  const shapes = PAINTERS[slide.art](rng, slide).join('');
  const access = label ? `role="img" aria-label="${label}"` : 'aria-hidden="true"';
  return `<svg viewBox="0 0 300 400" preserveAspectRatio="xMidYMid slice" font-family="system-ui, sans-serif" ${access}>${shapes}</svg>`;
}
