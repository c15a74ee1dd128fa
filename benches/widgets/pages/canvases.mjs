// Maps and canvases.

import { button, click, clickAt, css, dragPoints, dragAt, role, scroll, text, within } from '../steps.mjs';

export const pages = [
  {
    name: 'Leaflet',
    library: 'leaflet',
    css: ['leaflet/dist/leaflet.css'],
    html: '<div id="map" style="width:600px;height:400px"></div>',
    js: `import L from 'leaflet'; window.map1 = L.map('map', { zoomAnimation: true }).setView([51.5, 0], 6);
      L.marker([51.5, 0], { title: 'London', icon: L.divIcon({ className: 'pin', html: '<b>pin</b>' }) }).addTo(map1).bindPopup('Hello <button onclick="log.push(\\'details\\')">Details</button>');
      map1.on('click', (event) => log.push('map'));`,
    tasks: [
      { name: 'zoom in', steps: [click(button('Zoom in'))], judge: 'map1.getZoom() === 7' },
      { name: 'popup of a marker', steps: [click(css('.pin', { role: 'button', name: /London|pin/ })), click(button('Details'))], judge: "log.join() === 'details'" },
      { name: 'pan by dragging', steps: [dragPoints(within('#map', 0.3, 0.7), within('#map', 0.6, 0.8))], judge: 'map1.getCenter().lng < -1' },
      { name: 'click at a point', steps: [clickAt(within('#map', 0.2, 0.2))], judge: "log.join() === 'map'" },
    ],
  },
  {
    name: 'OpenLayers',
    library: 'ol',
    css: ['ol/ol.css'],
    html: '<div id="map" style="width:600px;height:400px"></div>',
    js: `import Map from 'ol/Map'; import View from 'ol/View'; import VectorLayer from 'ol/layer/Vector'; import VectorSource from 'ol/source/Vector'; import Feature from 'ol/Feature'; import Point from 'ol/geom/Point';
      const feature = new Feature(new Point([0, 0])); window.map1 = new Map({ target: 'map', view: new View({ center: [0, 0], zoom: 4 }), layers: [new VectorLayer({ source: new VectorSource({ features: [feature] }) })] });
      map1.on('singleclick', (event) => map1.forEachFeatureAtPixel(event.pixel, () => log.push('feature'))); await new Promise((done) => map1.once('rendercomplete', done));`,
    tasks: [
      { name: 'zoom in', steps: [click(css('.ol-zoom-in'))], judge: 'Math.round(map1.getView().getZoom()) === 5' },
      { name: 'click a feature', steps: [clickAt(within('#map'))], judge: "log.join() === 'feature'" },
      { name: 'pan by dragging', steps: [dragPoints(within('#map', 0.3, 0.5), within('#map', 0.7, 0.5))], judge: 'map1.getView().getCenter()[0] < -100000' },
    ],
  },
  {
    name: 'Fabric.js',
    library: 'fabric',
    html: '<canvas id="board" width="500" height="300" style="border:1px solid"></canvas>',
    js: `import { Canvas, Rect } from 'fabric'; window.board1 = new Canvas('board'); window.rect = new Rect({ left: 60, top: 60, width: 80, height: 60, fill: 'red', originX: 'left', originY: 'top' }); board1.add(rect); board1.renderAll();`,
    tasks: [
      { name: 'select a shape', steps: [clickAt("(() => { const box = board1.upperCanvasEl.getBoundingClientRect(); return {x: box.left + 100, y: box.top + 90}; })()")], judge: 'board1.getActiveObject() === rect' },
      { name: 'move a shape', steps: [dragPoints("(() => { const box = board1.upperCanvasEl.getBoundingClientRect(); return {x: box.left + 100, y: box.top + 90}; })()", "(() => { const box = board1.upperCanvasEl.getBoundingClientRect(); return {x: box.left + 250, y: box.top + 140}; })()")], judge: 'Math.abs(rect.left - 210) < 3 && Math.abs(rect.top - 110) < 3' },
    ],
  },
  {
    name: 'Konva',
    library: 'konva',
    html: '<div id="board" style="width:500px;height:300px;border:1px solid"></div>',
    js: `import Konva from 'konva'; const stage = new Konva.Stage({ container: 'board', width: 500, height: 300 }); const layer = new Konva.Layer(); stage.add(layer);
      window.circle = new Konva.Circle({ x: 100, y: 100, radius: 40, fill: 'green', draggable: true }); circle.on('click', () => log.push('circle')); layer.add(circle);`,
    tasks: [
      { name: 'click a shape', steps: [clickAt("(() => { const box = board.getBoundingClientRect(); return {x: box.left + 100, y: box.top + 100}; })()")], judge: "log.join() === 'circle'" },
      { name: 'move a shape', steps: [dragPoints("(() => { const box = board.getBoundingClientRect(); return {x: box.left + 100, y: box.top + 100}; })()", "(() => { const box = board.getBoundingClientRect(); return {x: box.left + 300, y: box.top + 150}; })()")], judge: 'Math.abs(circle.x() - 300) < 5' },
    ],
  },
];
