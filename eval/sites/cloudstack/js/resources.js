/** CloudStack console: lists of databases, buckets, networks, load balancers, alert rules and budgets. */
(function () {
  'use strict';
  const { find, findAll, resourceList, toast, day } = window.cloud;

  const rows = (keys, text) => text.trim().split('\n').map((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    return Object.fromEntries(keys.map((key, i) => [key, cells[i]]));
  });
  const column = (key, label, kind) => ({ key, label, kind });
  const name = column('name', 'Name', 'link');
  const state = column('state', 'State', 'state');
  const region = column('region', 'Region');
  const switched = (on, off) => ({
    actions: (row) => [row.state === off ? 'Enable' : 'Disable'],
    change: (row) => { row.state = row.state === off ? on : off; },
  });

  const LISTS = {
    rds: {
      noun: 'databases', columns: [name, column('size', 'Size'), region, column('storage', 'Storage'), state],
      rows: rows(['id', 'name', 'size', 'region', 'storage', 'state'], `
        db-01ka|orders-primary|db.g8|Midland B|390 of 500 GiB|Available
        db-02fm|orders-standby|db.g8|Midland C|390 of 500 GiB|Available
        db-03xq|catalog-primary|db.g2|Northlake A|122 of 200 GiB|Available
        db-04pd|catalog-replica|db.g2|Northlake B|122 of 200 GiB|Degraded
        db-05wz|accounts|db.g2|Midland B|61 of 200 GiB|Available
        db-06hn|reporting|db.g8|Southbay A|840 of 1,000 GiB|Available
        db-07ty|staging|db.s1|Midland C|12 of 40 GiB|Available`),
      actions: () => ['Back up'],
      change: (row) => `Backup of ${row.name} started.`,
    },
    oss: {
      noun: 'buckets', columns: [name, region, column('objects', 'Objects', 'num'), column('size', 'Size', 'num'), column('state', 'Class', 'state')],
      rows: rows(['id', 'name', 'region', 'objects', 'size', 'state'], `
        oss://media-originals|media-originals|Midland|2,114,020|3.1 TiB|Standard
        oss://media-thumbs|media-thumbs|Midland|8,402,377|410 GiB|Standard
        oss://shop-static|shop-static|Northlake|12,840|3.4 GiB|Standard
        oss://invoices|invoices|Midland|184,209|52 GiB|Infrequent
        oss://backups-db|backups-db|Northlake|3,204|1.9 TiB|Infrequent
        oss://logs-raw|logs-raw|Southbay|7,610,444|640 GiB|Standard
        oss://logs-old|logs-old|Southbay|70,118|88 GiB|Archive
        oss://exports|exports|Midland|921|14 GiB|Standard
        oss://legal-hold|legal-hold|Westport|4,410|27 GiB|Archive`),
      actions: () => ['Copy address'],
      change: (row) => `Address of ${row.name} copied.`,
    },
    vpc: {
      noun: 'networks', columns: [name, region, column('range', 'Address range', 'mono'), column('subnets', 'Subnets', 'num'), state],
      rows: rows(['id', 'name', 'region', 'range', 'subnets', 'state'], `
        vpc-4410|vpc-default|Midland|10.10.0.0/16|3|Available
        vpc-4417|vpc-reporting|Midland|10.20.0.0/18|4|Available
        vpc-4422|vpc-staging|Midland|10.30.0.0/18|2|Available
        vpc-5102|vpc-shop|Northlake|10.40.0.0/16|6|Available
        vpc-6034|vpc-data|Southbay|10.50.0.0/16|2|Available
        vpc-7001|vpc-lab|Westport|10.60.0.0/20|1|Available`),
      actions: () => ['Test connection'],
      change: (row) => `All subnets of ${row.name} answer.`,
    },
    slb: {
      noun: 'load balancers', columns: [name, region, column('listeners', 'Listeners'), column('servers', 'Servers'), state],
      rows: rows(['id', 'name', 'region', 'listeners', 'servers', 'state'], `
        lb-shop-web|lb-shop-web|Northlake|443, 80|5 of 6 healthy|Degraded
        lb-api|lb-api|Midland|443|4 of 4 healthy|Healthy
        lb-reporting|lb-reporting|Midland|8443|3 of 3 healthy|Healthy
        lb-internal|lb-internal|Midland|9000–9010|8 of 8 healthy|Healthy
        lb-staging|lb-staging|Midland|443|0 of 0|Disabled`),
      ...switched('Healthy', 'Disabled'),
    },
    cms: {
      noun: 'rules', columns: [name, column('metric', 'Metric'), column('limit', 'Condition'), state],
      rows: rows(['id', 'name', 'metric', 'limit', 'state'], `
        r-101|CPU of web servers|cpu.usage|above 80 % for 5 min|OK
        r-102|Memory of web servers|memory.usage|above 90 % for 5 min|OK
        r-103|Disk of databases|disk.usage|above 75 % for 15 min|Alert
        r-104|Replica delay|rds.replica.delay|above 3 s for 2 min|Alert
        r-105|Failed logins|ram.login.failed|more than 20 in 10 min|OK
        r-106|Checkout errors|slb.http.5xx|more than 1 % for 3 min|OK
        r-107|Queue length|str.backlog|above 10,000 for 5 min|OK
        r-109|Certificate age|slb.cert.days|less than 21 days|OK
        r-110|Build minutes|ccs.build.minutes|above 900 a day|Disabled`),
      ...switched('OK', 'Disabled'),
    },
    budget: {
      noun: 'budgets', columns: [name, column('product', 'Product'), column('limit', 'Limit a month', 'num'), column('spent', 'Spent', 'num'), state],
      rows: rows(['id', 'name', 'product', 'limit', 'spent', 'state'], `
        bg-1|Whole workspace|All|4,800.00|2,917.08|OK
        bg-2|Databases|RDS|1,200.00|806.20|OK
        bg-3|Web servers|ECS|1,250.00|1,284.50|Over
        bg-4|Media storage|OSS|450.00|391.84|Near`),
      actions: () => ['Send report'],
      change: (row) => `Report of ${row.name} sent to the technical contact.`,
    },
  };

  const mount = find('#list');
  const kind = mount.dataset.list;
  const { change, ...settings } = LISTS[kind];
  resourceList(mount, {
    ...settings,
    onAction: (row, action) => {
      const answer = change(row);
      tracker.track('resource_action', { product: kind, resourceId: row.id, action, state: row.state ?? '' });
      return answer;
    },
  });
  findAll('[data-new]').forEach((button) => button.addEventListener('click', () => {
    toast(`The demo workspace cannot create another ${button.dataset.new}.`);
  }));
})();
