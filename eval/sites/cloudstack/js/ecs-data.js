/** CloudStack ECS: regions, types, images, networks, and the instances of the workspace. */
(function () {
  'use strict';
  const { read, write } = window.cloud;
  const KEY = 'cloud.ecs';

  const ZONES = { Midland: ['A', 'B', 'C'], Northlake: ['A', 'B', 'C'], Southbay: ['A', 'B'], Westport: ['A', 'B', 'C'] };
  const FULL_ZONES = ['Midland C', 'Southbay B'];
  const PRICE_LEVEL = { Midland: 1, Northlake: 1.04, Southbay: 0.98, Westport: 1.07 };

  const type = (code, cpu, memory, hourly, monthly, soldOut = []) => ({ code, cpu, memory, hourly, monthly, soldOut });
  const TYPES = [
    type('a2.large', 2, 8, 0.066, 47.5), type('a2.xlarge', 4, 16, 0.13, 94), type('a2.2xlarge', 8, 32, 0.254, 184),
    type('c6.large', 2, 4, 0.062, 38), type('c6.xlarge', 4, 8, 0.121, 75), type('c6.2xlarge', 8, 16, 0.242, 150), type('c6.4xlarge', 16, 32, 0.484, 299),
    type('g5.large', 2, 8, 0.07, 44), type('g5.xlarge', 4, 16, 0.142, 88, ['Midland B']), type('g5.2xlarge', 8, 32, 0.271, 169, ['Midland B', 'Westport A']),
    type('g6.xlarge', 4, 16, 0.151, 95), type('g6.2xlarge', 8, 32, 0.289, 181.5), type('g6.4xlarge', 16, 64, 0.578, 362),
    type('r6.large', 2, 16, 0.118, 70), type('r6.xlarge', 4, 32, 0.163, 104), type('r6.2xlarge', 8, 64, 0.318, 174.5), type('r6.4xlarge', 16, 128, 0.636, 351),
    type('s5.large', 2, 4, 0.048, 28), type('s5.2xlarge', 8, 16, 0.18, 108), type('s5.4xlarge', 8, 32, 0.262, 176),
  ];

  const IMAGES = {
    'Cirrus Linux': [['Cirrus Linux 8', 40], ['Cirrus Linux 9', 40], ['Cirrus Linux 9 with desktop', 60]],
    'Harbor Linux': [['Harbor Linux 22', 20], ['Harbor Linux 24', 20]],
    'Meridian Server': [['Meridian Server Core', 60], ['Meridian Server', 80]],
  };
  const DISKS = ['Economy', 'Balanced SSD', 'Performance SSD'];

  const subnet = (name, zone, free) => ({ name, zone, free });
  const NETWORKS = {
    Midland: {
      'vpc-default': [subnet('default-a', 'A', 211), subnet('default-b', 'B', 196), subnet('default-c', 'C', 240)],
      'vpc-reporting': [subnet('reporting-a1', 'A', 88), subnet('reporting-b1', 'B', 0), subnet('reporting-b2', 'B', 117), subnet('reporting-c1', 'C', 60)],
      'vpc-staging': [subnet('staging-b', 'B', 52), subnet('staging-c', 'C', 50)],
    },
    Northlake: { 'vpc-shop': [subnet('shop-a', 'A', 400), subnet('shop-b', 'B', 388), subnet('shop-c', 'C', 402)] },
    Southbay: { 'vpc-data': [subnet('data-a', 'A', 120), subnet('data-b', 'B', 118)] },
    Westport: { 'vpc-lab': [subnet('lab-a', 'A', 30), subnet('lab-b', 'B', 30), subnet('lab-c', 'C', 30)] },
  };

  const instance = (id, name, place, code, state) => ({ id, name, place, type: code, state });
  const FIRST = [
    instance('i-3f01a', 'report-node-01', 'Midland B', 'g5.2xlarge', 'Running'), instance('i-3f02c', 'report-node-02', 'Midland B', 'g5.2xlarge', 'Running'),
    instance('i-3f07e', 'report-node-03', 'Midland C', 'r6.xlarge', 'Running'), instance('i-41b2d', 'web-front-1', 'Northlake A', 'c6.xlarge', 'Running'),
    instance('i-41b3a', 'web-front-2', 'Northlake B', 'c6.xlarge', 'Running'), instance('i-41b9f', 'web-front-3', 'Northlake C', 'c6.xlarge', 'Running'),
    instance('i-50c11', 'build-agent', 'Midland A', 's5.2xlarge', 'Running'), instance('i-50d40', 'metrics-export', 'Southbay A', 's5.large', 'Running'),
    instance('i-5a77b', 'staging-api', 'Midland C', 'a2.large', 'Stopped'), instance('i-60e02', 'legacy-import', 'Westport A', 'c6.large', 'Stopped'),
  ];

  const saved = () => read(localStorage, KEY, { states: {}, created: [] });

  function instances() {
    const { states, created } = saved();
    return [...FIRST, ...created].map((entry) => ({ ...entry, state: states[entry.id] || entry.state }));
  }

  function setState(id, state) {
    const data = saved();
    data.states[id] = state;
    write(localStorage, KEY, data);
  }

  function add(entry) {
    const data = saved();
    data.created.push(entry);
    write(localStorage, KEY, data);
  }

  function release(id) {
    const data = saved();
    data.created = data.created.filter((entry) => entry.id !== id);
    write(localStorage, KEY, data);
  }

  const created = () => saved().created;

  function reportState() {
    const { states } = saved();
    const othersUnchanged = FIRST.every(({ id, state }) => (states[id] || state) === state);
    tracker.track('instances_state', { newInstances: created().length, othersUnchanged });
  }

  const price = (entry, region, kind) => entry[kind] * PRICE_LEVEL[region];

  window.cloudEcs = { ZONES, FULL_ZONES, TYPES, IMAGES, DISKS, NETWORKS, instances, setState, add, release, created, reportState, price };
})();
