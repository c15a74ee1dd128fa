// Illustrations of the stories: flat scenes drawn as inline SVG in four tones.
'use strict';

(function () {
  const palettes = {
    dawn: ['#f6d9b8', '#e8a87c', '#b8574c', '#3d2c3a'],
    sea: ['#d6e6e4', '#8fbcbb', '#3f7f86', '#16343f'],
    field: ['#f1e7c3', '#d9b44a', '#8a9a3b', '#38461f'],
    stone: ['#e7e3da', '#bdb5a6', '#7c7568', '#2f2c29'],
    night: ['#c9cfe3', '#8a94bd', '#4a5590', '#1d2140'],
  };
  const rect = (x, y, w, h, fill) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"/>`;
  const circle = (x, y, r, fill) => `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}"/>`;
  const path = (d, fill) => `<path d="${d}" fill="${fill}"/>`;
  const line = (d, stroke, width) => `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/>`;
  const repeat = (count, draw) => Array.from({ length: count }, (_, i) => draw(i)).join('');
  const hills = (c) => path('M0 230Q110 150 230 215T470 190T640 225V360H0Z', c[1]) + path('M0 285Q160 215 330 270T640 255V360H0Z', c[2]);

  const scenes = {
    bank: ['stone', (c) => path('M140 130 320 60 500 130Z', c[3]) + rect(150, 136, 340, 16, c[2])
      + repeat(6, (i) => rect(170 + i * 56, 156, 22, 118, i % 2 ? c[2] : c[3]))
      + rect(140, 276, 360, 16, c[3]) + rect(120, 294, 400, 16, c[2]) + rect(0, 310, 640, 50, c[1])],
    harbour: ['sea', (c) => circle(500, 90, 38, '#fff') + rect(0, 230, 640, 130, c[2])
      + path('M130 210H470L440 262H165Z', c[3]) + rect(180, 176, 160, 34, c[1]) + rect(210, 146, 90, 30, '#fff')
      + rect(318, 116, 26, 60, '#b8574c') + repeat(5, (i) => rect(222 + i * 15, 155, 8, 10, c[3]))
      + repeat(7, (i) => line(`M${20 + i * 92} ${290 + (i % 2) * 24}q22-12 44 0t44 0`, c[1], 4))],
    field: ['field', (c) => circle(490, 96, 44, '#fff') + path('M0 220Q190 150 360 205T640 190V360H0Z', c[2])
      + path('M0 260Q320 200 640 250V360H0Z', c[1]) + repeat(9, (i) => line(`M${40 + i * 70} 360Q${150 + i * 45} 300 ${220 + i * 26} 238`, c[2], 4))
      + rect(118, 158, 58, 52, c[3]) + path('M108 160 147 128 186 160Z', '#b8574c')],
    train: ['dawn', (c) => hills(c) + rect(0, 288, 640, 8, c[3])
      + path('M110 190H500Q560 190 575 250L580 286H110Z', '#fff') + rect(110, 250, 470, 14, c[2])
      + repeat(6, (i) => rect(132 + i * 60, 208, 42, 30, c[3])) + path('M500 206H520Q546 206 556 240H500Z', c[3])
      + repeat(8, (i) => rect(20 + i * 82, 300, 46, 10, c[3]))],
    books: ['dawn', (c) => rect(80, 60, 480, 10, c[3]) + rect(80, 175, 480, 10, c[3]) + rect(80, 295, 480, 10, c[3])
      + repeat(17, (i) => rect(96 + i * 27, 84 + (i * 7) % 26, 21, 91 - (i * 7) % 26, c[1 + (i * 5) % 3]))
      + repeat(12, (i) => rect(130 + i * 34, 200 + (i * 11) % 34, 25, 95 - (i * 11) % 34, c[1 + (i * 7) % 3]))],
    shops: ['dawn', (c) => repeat(4, (i) => rect(40 + i * 145, 90 + (i % 2) * 26, 132, 220, c[1 + (i % 2)])
      + repeat(4, (j) => path(`M${40 + i * 145 + j * 33} 196h33v20a16.5 16 0 0 1-33 0Z`, j % 2 ? '#fff' : c[3]))
      + rect(54 + i * 145, 236, 60, 56, c[0]) + rect(124 + i * 145, 236, 34, 74, c[3])
      + rect(60 + i * 145, 126, 30, 44, c[0]) + rect(118 + i * 145, 126, 30, 44, c[0])) + rect(0, 310, 640, 50, c[3])],
    pipes: ['sea', (c) => rect(0, 262, 640, 98, c[2]) + line('M0 170H180V110H330V210H640', c[3], 40) + line('M0 170H180V110H330V210H640', c[1], 24)
      + circle(255, 110, 58, c[3]) + circle(255, 110, 46, '#fff') + line('M255 110 282 84', '#b8574c', 6)
      + repeat(9, (i) => circle(255 + 37 * Math.cos(Math.PI * (0.8 + i * 0.175)), 110 + 37 * Math.sin(Math.PI * (0.8 + i * 0.175)), 3, c[3]))
      + rect(470, 176, 18, 68, c[3]) + repeat(5, (i) => line(`M${40 + i * 120} 310q20-12 40 0t40 0`, c[1], 4))],
    factory: ['stone', (c) => rect(430, 70, 36, 200, c[2]) + rect(490, 104, 30, 166, c[2])
      + path('M90 300V190L180 140V190L270 140V190L360 140V190H560V300Z', c[3])
      + repeat(6, (i) => rect(120 + i * 72, 226, 42, 30, '#e8a87c')) + circle(466, 52, 22, '#fff') + circle(500, 36, 28, '#fff') + circle(540, 46, 18, '#fff') + rect(0, 300, 640, 60, c[1])],
    chart: ['night', (c) => repeat(5, (i) => rect(60, 70 + i * 55, 520, 2, c[1]))
      + repeat(9, (i) => rect(80 + i * 56, 290 - [60, 82, 74, 110, 96, 130, 150, 142, 186][i], 30, [60, 82, 74, 110, 96, 130, 150, 142, 186][i], c[2]))
      + line('M70 240 150 215 220 228 300 170 360 186 430 130 500 140 580 74', c[3], 7) + circle(580, 74, 11, '#b8574c')],
    servers: ['night', (c) => repeat(5, (i) => rect(60 + i * 108, 70, 90, 230, c[3])
      + repeat(8, (j) => rect(70 + i * 108, 84 + j * 26, 70, 14, c[2]) + circle(130 + i * 108, 91 + j * 26, 3, (i + j) % 3 ? '#9fe0c0' : '#f0b04a'))) + rect(0, 300, 640, 60, c[1])],
    phone: ['stone', (c) => `<g transform="rotate(-12 320 180)">${rect(250, 40, 140, 280, c[3])}${rect(260, 62, 120, 226, '#fff')}${circle(320, 304, 8, c[1])}</g>`
      + repeat(4, (i) => line(`M${430 + i * 26} ${180 - 20 - i * 18}q${22 + i * 6} ${20 + i * 18} 0 ${40 + i * 36}`, c[2], 7)) + circle(150, 230, 30, c[2]) + line('M136 230h28M150 216v28', '#fff', 6)],
    mountains: ['night', (c) => circle(480, 92, 34, '#fff') + path('M0 300 150 110 250 220 340 90 520 300Z', c[2]) + path('M300 300 470 150 640 290V360H0V300Z', c[3])
      + path('M118 150 150 110 186 150 160 142 140 156Z', '#fff') + path('M306 138 340 90 380 138 350 128 328 142Z', '#fff') + rect(0, 300, 640, 60, c[1]) + rect(40, 236, 560, 14, '#ffffff88') + rect(120, 266, 400, 10, '#ffffff66')],
    tram: ['dawn', (c) => repeat(6, (i) => rect(i * 112, 70 + (i * 37) % 70, 92, 250, c[1])) + line('M0 96H640', c[3], 2)
      + line('M320 98 290 130H350Z', c[3], 4) + path('M120 130H520Q536 130 536 150V290H104V150Q104 130 120 130Z', c[2])
      + repeat(5, (i) => rect(128 + i * 80, 156, 62, 56, '#fff')) + rect(104, 232, 432, 12, c[0]) + circle(190, 292, 20, c[3]) + circle(450, 292, 20, c[3]) + rect(0, 310, 640, 50, c[3])],
    lake: ['sea', (c) => hills(c) + rect(0, 262, 640, 98, '#fff') + rect(0, 266, 640, 94, c[1])
      + rect(90, 252, 150, 8, c[3]) + repeat(4, (i) => rect(100 + i * 40, 252, 7, 54, c[3])) + path('M350 276H450L436 296H364Z', '#b8574c') + line('M400 276V206L440 262H400', c[3], 4)],
    fish: ['sea', (c) => rect(0, 0, 640, 360, c[1]) + repeat(9, (i) => {
      const x = 60 + (i % 3) * 200 + (i > 2 && i < 6 ? 60 : 0);
      const y = 80 + Math.floor(i / 3) * 100;
      return path(`M${x} ${y}q46-44 96 0l34-24v48l-34-24q-50 44-96 0Z`, i % 2 ? c[3] : c[2]) + circle(x + 22, y - 4, 5, '#fff');
    })],
    bread: ['field', (c) => rect(0, 270, 640, 90, c[3]) + path('M110 270Q90 130 250 118H400Q560 130 530 270Z', '#a9672f')
      + path('M136 262Q120 150 256 138H392Q520 150 504 262Z', '#8a4f22') + repeat(4, (i) => line(`M${200 + i * 72} 160q26 34 12 82`, c[0], 9))],
    tent: ['night', (c) => repeat(26, (i) => circle((i * 97) % 640, (i * 53) % 150, 1 + (i % 3), '#fff')) + path('M60 300 220 110 380 300Z', c[3]) + path('M220 110 260 300H180Z', '#f0b04a')
      + path('M330 300 450 160 580 300Z', c[2]) + path('M450 160 476 300H424Z', '#f6d9b8') + line('M220 110V84l26 9-26 9', '#b8574c', 4) + rect(0, 300, 640, 60, c[3])],
  };

  window.drawIllustrations = function (root) {
    for (const holder of root.querySelectorAll('[data-art]')) {
      const [palette, draw] = scenes[holder.dataset.art] || scenes.lake;
      const colours = palettes[palette];
      holder.innerHTML = `<svg viewBox="0 0 640 360" preserveAspectRatio="xMidYMid slice" aria-hidden="true">${rect(0, 0, 640, 360, colours[0])}${draw(colours)}</svg>`;
    }
  };
})();
