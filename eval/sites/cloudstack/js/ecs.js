/** CloudStack ECS: list of instances. */
(function () {
  'use strict';
  const { find, resourceList } = window.cloud;
  const ecs = window.cloudEcs;
  const NEXT = { Start: 'Running', Stop: 'Stopped', Restart: 'Running' };
  const rows = ecs.instances();
  const isNew = (row) => ecs.created().some(({ id }) => id === row.id);

  function drawTiles() {
    const count = (state) => rows.filter((row) => row.state === state).length;
    const tiles = [['Instances', rows.length], ['Running', count('Running')], ['Stopped', count('Stopped')], ['Regions', 4]];
    find('#ecs-tiles').innerHTML = tiles.map(([name, value]) => `<div class="tile"><span>${name}</span><b>${value}</b></div>`).join('');
  }

  function act(row, action) {
    if (action === 'Release') {
      ecs.release(row.id);
      rows.splice(rows.indexOf(row), 1);
    } else {
      row.state = NEXT[action];
      ecs.setState(row.id, row.state);
    }
    tracker.track('instance_action', { instanceId: row.id, action, state: row.state });
    ecs.reportState();
    drawTiles();
    return `${row.name}: ${action.toLowerCase()} requested`;
  }

  resourceList('#list', {
    noun: 'instances',
    columns: [{ key: 'name', label: 'Name', kind: 'link' }, { key: 'place', label: 'Zone' }, { key: 'type', label: 'Type', kind: 'mono' }, { key: 'state', label: 'State', kind: 'state' }],
    rows,
    actions: (row) => [...(row.state === 'Running' ? ['Stop', 'Restart'] : ['Start']), ...(isNew(row) ? ['Release'] : [])],
    onAction: act,
  });
  drawTiles();
})();
