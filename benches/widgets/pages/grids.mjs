// Grids, tables, trees, virtual lists.

import { button, click, css, fill, keys, press, role, scroll, text, type, waitFor } from '../steps.mjs';

const PEOPLE = Array.from({ length: 100 }, (_, n) => ({ id: n, name: `Person ${String(n).padStart(3, '0')}`, age: 20 + ((n * 7) % 50) }));
const data = JSON.stringify(PEOPLE);
const rows = PEOPLE.map(({ name, age }) => `<tr><td>${name}</td><td>${age}</td></tr>`).join('');

export const pages = [
  {
    name: 'AG Grid',
    library: 'ag-grid-community',
    html: '<div id="grid" style="height:400px;width:700px"></div>',
    js: `import { createGrid, ModuleRegistry, AllCommunityModule } from 'ag-grid-community'; ModuleRegistry.registerModules([AllCommunityModule]);
      window.grid = createGrid(document.getElementById('grid'), { rowData: ${data}, rowSelection: { mode: 'multiRow' }, columnDefs: [{ field: 'name', editable: true, filter: true, floatingFilter: true }, { field: 'age', sortable: true }] });
      window.first = () => grid.getDisplayedRowAtIndex(0).data;`,
    ready: "document.querySelector('.ag-cell')",
    tasks: [
      { name: 'sort by a column', steps: [click(role('columnheader', /^age/i)), click(role('columnheader', /^age/i))], judge: 'first().age === 69' },
      { name: 'edit a cell', steps: [click(role('gridcell', 'Person 001'), { double: true }), press('Control+a'), keys('Ada'), press('Enter')], judge: "grid.getDisplayedRowAtIndex(1).data.name === 'Ada'" },
      { name: 'select a row', steps: [click(css('[row-index="2"] .ag-selection-checkbox input'))], judge: "grid.getSelectedRows().map((one) => one.id).join() === '2'" },
      { name: 'filter', steps: [fill(role('textbox', /name Filter Input/i), '042')], judge: 'grid.getDisplayedRowCount() === 1' },
    ],
  },
  {
    name: 'Tabulator',
    library: 'tabulator-tables',
    css: ['tabulator-tables/dist/css/tabulator.css'],
    html: '<div id="grid"></div>',
    js: `import { TabulatorFull as Tabulator } from 'tabulator-tables'; window.grid = new Tabulator('#grid', { data: ${data}, height: 300, layout: 'fitColumns', columns: [{ title: 'Name', field: 'name', editor: 'input' }, { title: 'Age', field: 'age' }] });
      await new Promise((done) => grid.on('tableBuilt', done));`,
    tasks: [
      { name: 'sort by a column', steps: [click(css('.tabulator-col[tabulator-field=age]', { role: 'columnheader', name: /Age/ }))], judge: "grid.getRows('active')[0].getData().age === 20 && grid.getSorters().length === 1" },
      { name: 'edit a cell', steps: [click(text('Person 001')), press('Control+a'), keys('Ada'), press('Enter')], judge: "grid.getData()[1].name === 'Ada'" },
    ],
  },
  {
    name: 'Handsontable',
    library: 'handsontable',
    css: ['handsontable/styles/handsontable.css', 'handsontable/styles/ht-theme-main.css'],
    html: '<div id="grid" class="ht-theme-main"></div>',
    js: `import Handsontable from 'handsontable'; window.grid = new Handsontable(document.getElementById('grid'), { data: ${JSON.stringify(PEOPLE.slice(0, 12).map(({ name, age }) => [name, age]))}, colHeaders: ['Name', 'Age'], columnSorting: true, contextMenu: true, licenseKey: 'non-commercial-and-evaluation' });`,
    ready: "document.querySelector('td')",
    tasks: [
      { name: 'type into a cell', steps: [click(css('#grid .ht_master tbody tr:nth-child(2) td:nth-child(1)', { text: 'Person 001' })), keys('Ada'), press('Enter')], judge: "grid.getDataAtCell(1, 0) === 'Ada'" },
      { name: 'double click and edit', steps: [click(css('#grid .ht_master tbody tr:nth-child(3) td:nth-child(1)', { text: 'Person 002' }), { double: true }), press('Control+a'), keys('Eve'), press('Enter')], judge: "grid.getDataAtCell(2, 0) === 'Eve'" },
      { name: 'context menu', steps: [click(css('#grid .ht_master tbody tr:nth-child(2) td:nth-child(1)', { text: 'Person 001' }), { button: 'right' }), click(role('menuitem', 'Remove row'))], judge: "grid.countRows() === 11 && grid.getDataAtCell(1, 0) === 'Person 002'" },
    ],
  },
  {
    name: 'DataTables',
    library: 'datatables.net',
    css: ['datatables.net-dt/css/dataTables.dataTables.css'],
    html: `<table id="table"><thead><tr><th>Name</th><th>Age</th></tr></thead><tbody>${rows}</tbody></table>`,
    js: `import DataTable from 'datatables.net-dt'; window.table = new DataTable('#table');`,
    tasks: [
      { name: 'next page', steps: [click(css('.dt-paging-button.next'))], judge: 'table.page() === 1' },
      { name: 'search', steps: [fill(role('searchbox', /Search/), '042')], judge: "table.rows({ search: 'applied' }).count() === 1" },
      { name: 'sort twice', steps: [click(css('th[data-dt-column="1"]', { role: 'columnheader', name: /Age/ })), click(css('th[data-dt-column="1"]', { role: 'columnheader', name: /Age/ }))], judge: "table.rows({ order: 'applied' }).data()[0][1] === '69'" },
    ],
  },
  {
    name: 'Grid.js',
    library: 'gridjs',
    css: ['gridjs/dist/theme/mermaid.css'],
    html: '<div id="grid"></div>',
    js: `import { Grid } from 'gridjs'; new Grid({ columns: ['Name', 'Age'], sort: true, search: true, pagination: { limit: 10 }, data: ${JSON.stringify(PEOPLE.map(({ name, age }) => [name, age]))} }).render(grid);`,
    ready: "document.querySelector('td')",
    tasks: [
      { name: 'next page', steps: [click(button('Next'))], judge: "document.querySelector('td').textContent === 'Person 010'" },
      { name: 'search', steps: [fill(css('input.gridjs-search-input'), '042')], judge: "document.querySelectorAll('.gridjs-tbody tr').length === 1 && document.querySelector('td').textContent === 'Person 042'" },
      { name: 'sort', steps: [click(css('th[data-column-id=age] button'))], judge: "document.querySelector('td:nth-child(2)').textContent === '20'" },
    ],
  },
  {
    name: 'jsTree',
    library: 'jstree',
    css: ['jstree/dist/themes/default/style.css'],
    html: '<div id="tree"></div>',
    js: `import $ from 'jquery'; window.$ = window.jQuery = $; await import('jstree');
      $('#tree').jstree({ plugins: ['checkbox'], core: { data: [{ id: 'src', text: 'src', children: [{ id: 'main', text: 'main.rs' }, { id: 'lib', text: 'lib.rs' }] }, { id: 'docs', text: 'docs' }] } });
      await new Promise((done) => $('#tree').on('ready.jstree', done));`,
    tasks: [
      { name: 'expand and select', steps: [click(css('#src > .jstree-ocl')), click(text('lib.rs'))], judge: "$('#tree').jstree('get_selected').join() === 'lib'" },
      { name: 'select an entry', steps: [click(text('docs'))], judge: "$('#tree').jstree('get_selected').join() === 'docs'" },
      { name: 'expand by double click', steps: [click(text('src'), { double: true })], judge: "$('#tree').jstree('is_open', 'src')" },
    ],
  },
  {
    name: 'react-window',
    library: 'react-window',
    html: '<div id="root"></div>',
    js: `import { createRoot } from 'react-dom/client'; import { List } from 'react-window';
      const Row = ({ index, style }) => <div style={style}><button onClick={() => log.push(index)}>Row {index}</button></div>;
      createRoot(root).render(<List rowComponent={Row} rowCount={1000} rowHeight={30} rowProps={{}} style={{ height: 300 }} className="list" />);`,
    ready: "document.querySelector('.list button')",
    tasks: [
      { name: 'click a row that is partly visible', steps: [click(button('Row 10'))], judge: "log.join() === '10'" },
      { name: 'scroll, then click', steps: [scroll(button('Row 3'), 3000), waitFor("document.body.textContent.includes('Row 104')"), click(button('Row 104'))], judge: "log.join() === '104'" },
    ],
  },
  {
    name: 'TanStack Virtual',
    library: '@tanstack/react-virtual',
    html: '<div id="root"></div>',
    js: `import { useRef } from 'react'; import { createRoot } from 'react-dom/client'; import { useVirtualizer } from '@tanstack/react-virtual';
      const App = () => { const box = useRef(null); const virtual = useVirtualizer({ count: 1000, getScrollElement: () => box.current, estimateSize: () => 35 });
        return <div ref={box} className="list" style={{ height: 300, overflow: 'auto' }}><div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => <div key={item.key} onClick={() => log.push(item.index)} style={{ position: 'absolute', top: 0, width: '100%', height: item.size, transform: 'translateY(' + item.start + 'px)' }}>Entry {item.index}</div>)}</div></div>; };
      createRoot(root).render(<App />);`,
    ready: "document.body.textContent.includes('Entry 5')",
    tasks: [
      { name: 'click an entry', steps: [click(text('Entry 4'))], judge: "log.join() === '4'" },
      { name: 'scroll, then click', steps: [scroll(text('Entry 3'), 3500), waitFor("document.body.textContent.includes('Entry 103')"), click(text('Entry 103'))], judge: "log.join() === '103'" },
    ],
  },
];
