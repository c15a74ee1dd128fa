/** CloudStack ECS: the wizard that creates an instance. Later steps depend on earlier ones. */
(function () {
  'use strict';
  const { find, findAll, escape } = window.cloud;
  const ecs = window.cloudEcs;
  const STEPS = ['Basics', 'Instance type', 'Image and disk', 'Network and billing', 'Review'];
  const COST_CENTERS = ['Analytics', 'Platform', 'Retail', 'Shared services'];
  const PAGE_SIZE = 7;

  const EMPTY = {
    name: '', costCenter: '', region: '', zone: '', type: '', family: '', image: '', diskType: 'Economy', diskSize: '40',
    network: '', subnet: '', publicIp: true, billing: 'hourly', autoRenew: true, agreed: false,
  };
  const LATER = { region: ['zone', 'type', 'network', 'subnet'], zone: ['type', 'subnet'], family: ['image'], network: ['subnet'] };
  const REDRAW = ['region', 'zone', 'family', 'network', 'billing', 'cpu', 'memory'];

  const form = find('#wizard');
  let state = { ...EMPTY };
  let view = { cpu: 0, memory: 0, sort: 'code', down: false, page: 0 };
  let step = 0;
  let errors = {};

  const money = (value, digits) => value.toFixed(digits);
  const failure = (key) => (errors[key] ? `<span class="error" role="alert">${errors[key]}</span>` : '');
  const invalid = (key) => (errors[key] ? 'aria-invalid="true"' : '');
  const option = (value, label, chosen, off) => `<option value="${value}" ${chosen ? 'selected' : ''} ${off ? 'disabled' : ''}>${label}</option>`;
  const select = (key, label, options, hint = '') => `<div class="field"><label for="${key}">${label}</label><select id="${key}" name="${key}" ${invalid(key)}>
    <option value="">Choose…</option>${options.map(([value, text, off]) => option(value, text || value, state[key] === value, off)).join('')}</select>${hint && `<span class="hint">${hint}</span>`}${failure(key)}</div>`;
  const radio = (key, value, label, off) => `<label><input type="radio" name="${key}" value="${value}" ${state[key] === value ? 'checked' : ''} ${off ? 'disabled' : ''}>${label}</label>`;
  const radios = (key, label, choices) => `<fieldset><legend>${label}</legend><div class="choices">${choices}</div>${failure(key)}</fieldset>`;
  const check = (key, label) => `<label><input type="checkbox" name="${key}" ${state[key] ? 'checked' : ''}>${label}</label>`;

  const zoneKey = () => `${state.region} ${state.zone}`;
  const typeOf = () => ecs.TYPES.find(({ code }) => code === state.type);
  const imageSize = () => (ecs.IMAGES[state.family] || []).find(([name]) => name === state.image)?.[1] || 20;
  const subnets = () => ecs.NETWORKS[state.region][state.network] || [];

  function basics() {
    const zones = (ecs.ZONES[state.region] || []).map((zone) => {
      const full = ecs.FULL_ZONES.includes(`${state.region} ${zone}`);
      return radio('zone', zone, `Zone ${zone}${full ? ' (full)' : ''}`, full);
    }).join('');
    return `<div class="form">
      <div class="field"><label for="name">Name</label><input id="name" name="name" value="${escape(state.name)}" autocomplete="off" ${invalid('name')}><span class="hint">4 to 24 characters: lowercase letters, digits, hyphens</span>${failure('name')}</div>
      ${select('costCenter', 'Cost centre', COST_CENTERS.map((name) => [name]))}
      ${select('region', 'Region', Object.keys(ecs.ZONES).map((name) => [name]), 'Networks and prices depend on the region.')}
      ${zones ? radios('zone', 'Zone', zones) : ''}</div>`;
  }

  function typeRows() {
    const order = (a, b) => (a[view.sort] > b[view.sort] ? 1 : a[view.sort] < b[view.sort] ? -1 : 0) * (view.down ? -1 : 1);
    return ecs.TYPES.filter(({ cpu, memory }) => cpu >= view.cpu && memory >= view.memory).sort(order);
  }

  function typeStep() {
    const hits = typeRows();
    const pages = Math.max(1, Math.ceil(hits.length / PAGE_SIZE));
    view.page = Math.min(view.page, pages - 1);
    const least = (key, label, values) => `<label>${label} <select name="${key}" id="${key}">${values.map((value) => option(value, value ? `${value} or more` : 'Any', view[key] === value)).join('')}</select></label>`;
    const heads = [['code', 'Type'], ['cpu', 'vCPU'], ['memory', 'Memory'], ['hourly', 'Per hour'], ['monthly', 'Per month']];
    const head = ([key, label]) => `<th aria-sort="${view.sort === key ? (view.down ? 'descending' : 'ascending') : 'none'}" class="${key === 'code' ? '' : 'num'}"><button type="button" data-sort="${key}">${label}</button></th>`;
    const row = (entry) => {
      const gone = entry.soldOut.includes(zoneKey());
      return `<tr class="${gone ? 'off' : ''}"><td><input type="radio" name="type" value="${entry.code}" aria-label="${entry.code}" ${state.type === entry.code ? 'checked' : ''} ${gone ? 'disabled' : ''}></td>
        <td class="mono">${entry.code}${gone ? ' <span class="tag grey">Sold out</span>' : ''}</td><td class="num">${entry.cpu}</td><td class="num">${entry.memory} GiB</td><td class="num">${money(ecs.price(entry, state.region, 'hourly'), 3)}</td><td class="num">${money(ecs.price(entry, state.region, 'monthly'), 2)}</td></tr>`;
    };
    return `<p class="soft small">Types in ${zoneKey()}</p><div class="list-bar">${least('cpu', 'vCPU', [0, 2, 4, 8, 16])}${least('memory', 'Memory, GiB', [0, 8, 16, 32, 64])}<span class="soft small">${hits.length} types</span></div>
      <div class="scroll"><table><thead><tr><th></th>${heads.map(head).join('')}</tr></thead><tbody>${hits.slice(view.page * PAGE_SIZE, (view.page + 1) * PAGE_SIZE).map(row).join('')}</tbody></table></div>
      <div class="pager"><button type="button" data-page="-1" ${view.page ? '' : 'disabled'}>Previous</button><span>Page ${view.page + 1} of ${pages}</span><button type="button" data-page="1" ${view.page < pages - 1 ? '' : 'disabled'}>Next page</button></div>${failure('type')}`;
  }

  const imageStep = () => `<div class="form">
    ${select('family', 'Operating system', Object.keys(ecs.IMAGES).map((name) => [name]))}
    ${state.family ? select('image', 'Image', ecs.IMAGES[state.family].map(([name, size]) => [name, `${name} (disk from ${size} GiB)`])) : ''}
    ${radios('diskType', 'System disk', ecs.DISKS.map((name) => radio('diskType', name, name)).join(''))}
    <div class="field"><label for="diskSize">Disk size in GiB</label><input id="diskSize" name="diskSize" inputmode="numeric" value="${escape(state.diskSize)}" autocomplete="off" ${invalid('diskSize')}><span class="hint">In steps of 20, up to 500</span>${failure('diskSize')}</div></div>`;

  const networkStep = () => `<div class="form">
    ${select('network', 'Network', Object.keys(ecs.NETWORKS[state.region]).map((name) => [name]))}
    ${state.network ? select('subnet', 'Subnet', subnets().map(({ name, zone, free }) => [name, `${name}, zone ${zone}, ${free} addresses free`, zone !== state.zone])) : ''}
    ${check('publicIp', 'Assign a public address')}
    ${radios('billing', 'Billing', radio('billing', 'hourly', 'Hourly') + radio('billing', 'monthly', 'Monthly'))}
    ${state.billing === 'monthly' ? check('autoRenew', 'Renew automatically at the end of the month') : ''}</div>`;

  function review() {
    const kind = state.billing;
    const lines = [['Name', state.name], ['Cost centre', state.costCenter], ['Zone', zoneKey()], ['Type', state.type], ['Image', state.image], ['System disk', `${state.diskType}, ${state.diskSize} GiB`],
      ['Network', `${state.network} / ${state.subnet}`], ['Public address', state.publicIp ? 'Yes' : 'No'], ['Billing', kind === 'monthly' ? `Monthly, ${state.autoRenew ? 'renewed automatically' : 'not renewed'}` : 'Hourly'],
      ['Price of the type', `${money(ecs.price(typeOf(), state.region, kind), kind === 'hourly' ? 3 : 2)} credits per ${kind === 'hourly' ? 'hour' : 'month'}`]];
    return `<dl class="summary">${lines.map(([key, value]) => `<dt>${key}</dt><dd>${escape(value)}</dd>`).join('')}</dl><p style="margin-top:16px">${check('agreed', 'I have checked the configuration')}</p>${failure('agreed')}`;
  }

  const DRAW = [basics, typeStep, imageStep, networkStep, review];

  function checkDisk() {
    const size = Number(state.diskSize);
    if (!Number.isInteger(size) || size % 20) return 'Use a multiple of 20.';
    if (size < imageSize()) return `The image needs at least ${imageSize()} GiB.`;
    return size > 500 ? 'At most 500 GiB.' : '';
  }

  function checkName() {
    if (!/^[a-z][a-z0-9-]{3,23}$/.test(state.name)) return 'Use 4 to 24 lowercase letters, digits or hyphens, beginning with a letter.';
    return ecs.instances().some(({ name }) => name === state.name) ? 'Another instance has this name.' : '';
  }

  function checkSubnet() {
    const chosen = subnets().find(({ name }) => name === state.subnet);
    if (!chosen) return 'Choose a subnet.';
    return chosen.free ? '' : 'This subnet has no free addresses.';
  }

  const CHECKS = [
    () => ({ name: checkName(), costCenter: state.costCenter ? '' : 'Choose a cost centre.', region: state.region ? '' : 'Choose a region.', zone: state.zone ? '' : 'Choose a zone.' }),
    () => ({ type: state.type ? '' : 'Choose a type.' }),
    () => ({ family: state.family ? '' : 'Choose an operating system.', image: state.image ? '' : 'Choose an image.', diskSize: checkDisk() }),
    () => ({ network: state.network ? '' : 'Choose a network.', subnet: state.network ? checkSubnet() : '' }),
    () => ({ agreed: state.agreed ? '' : 'Confirm that you have checked the configuration.' }),
  ];

  function draw(focus) {
    find('#steps').innerHTML = STEPS.map((name, i) => `<li ${i === step ? 'aria-current="step"' : ''} class="${i < step ? 'done' : ''}">${name}</li>`).join('');
    form.innerHTML = `<h2 style="font-size:17px;margin-bottom:14px">${STEPS[step]}</h2>${DRAW[step]()}
      <div class="form-foot">${step ? '<button type="button" data-back>Back</button>' : '<a class="button" href="ecs.html">Cancel</a>'}<span class="grow"></span><button class="primary">${step === STEPS.length - 1 ? 'Create instance' : 'Next'}</button></div>`;
    if (focus) find(focus, form)?.focus();
  }

  function create() {
    const { region, zone, type, agreed, family, diskSize, autoRenew, ...rest } = state;
    const number = (window.evalRun.seed + ecs.created().length * 7919) % 0xfffff;
    ecs.add({ id: `i-${number.toString(16).padStart(5, '0')}`, name: state.name, place: zoneKey(), type, state: 'Running' });
    tracker.track('instance_create', {
      ...rest, region, zone, type, diskSize: Number(diskSize), autoRenew: state.billing === 'monthly' && autoRenew,
    });
    ecs.reportState();
    form.innerHTML = `<div class="empty"><h2 style="margin-bottom:6px">${escape(state.name)} is being created</h2><p>It runs in ${zoneKey()} in about a minute.</p><p style="margin-top:16px"><a class="button primary" href="ecs.html">Show instances</a></p></div>`;
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    errors = Object.fromEntries(Object.entries(CHECKS[step]()).filter(([, text]) => text));
    if (Object.keys(errors).length) return draw('[aria-invalid]');
    if (step === STEPS.length - 1) return create();
    tracker.track('wizard_step', { step: step + 1 });
    step += 1;
    draw();
    window.scrollTo(0, 0);
  });

  function take(field) {
    const key = field.name;
    if (key === 'cpu' || key === 'memory') {
      view[key] = Number(field.value);
    } else {
      const value = field.type === 'checkbox' ? field.checked : field.value.trim();
      if (state[key] === value) return;
      state[key] = value;
      (LATER[key] || []).forEach((later) => {
        state[later] = '';
        delete errors[later];
      });
    }
    delete errors[key];
    if (REDRAW.includes(key)) draw(field.id ? `#${field.id}` : `[name="${key}"]:checked`);
  }

  form.addEventListener('change', (event) => take(event.target));
  form.addEventListener('input', (event) => {
    if (event.target.matches('#name, #diskSize')) take(event.target);
  });
  form.addEventListener('click', (event) => {
    const { sort, page, back } = event.target.dataset;
    if (sort) view = { ...view, sort, down: view.sort === sort && !view.down, page: 0 };
    else if (page) view.page += Number(page);
    else if (back !== undefined) step -= 1;
    else return;
    draw();
  });
  draw();
})();
