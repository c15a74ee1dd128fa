/** DataFlow: figures of three years by quarter, and what derives from them. */
(function () {
  'use strict';

  const YEARS = { current: 'Current year', previous: 'Previous year', earlier: 'Two years back' };
  const QUARTERS = ['Q1', 'Q2', 'Q3', 'Q4'];
  const REVENUE = {
    current: [45000, 52000, 38000, 71000],
    previous: [58000, 39400, 66000, 43200],
    earlier: [31000, 36500, 44000, 28600],
  };
  const ORDER_VALUE = { current: 63.4, previous: 62.1, earlier: 58.7 };
  const REFUND_SHARE = { current: 0.031, previous: 0.034, earlier: 0.036 };
  const CUSTOMER_ORDERS = { current: 2.3, previous: 2.4, earlier: 2.2 };
  const MONTH_SHARES = [[0.31, 0.33, 0.36], [0.36, 0.3, 0.34], [0.33, 0.29, 0.38], [0.27, 0.31, 0.42]];
  const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

  const money = (value) => `$${Math.round(value).toLocaleString('en-US')}`;
  const revenue = (year, quarter) => REVENUE[year][QUARTERS.indexOf(quarter)];
  const total = (year) => REVENUE[year].reduce((sum, value) => sum + value, 0);

  function months(year) {
    return MONTHS.map((name, i) => ({ name, value: REVENUE[year][Math.floor(i / 3)] * MONTH_SHARES[Math.floor(i / 3)][i % 3] }));
  }

  function summary(year) {
    const sum = total(year);
    const orders = Math.round(sum / ORDER_VALUE[year]);
    return [['Revenue', sum], ['Orders', orders], ['Customers', Math.round(orders / CUSTOMER_ORDERS[year])], ['Refunds', sum * REFUND_SHARE[year]]];
  }

  function details(year, quarter) {
    const value = revenue(year, quarter);
    const orders = Math.round(value / ORDER_VALUE[year]);
    return { value, orders, refunds: Math.round(value * REFUND_SHARE[year]), average: value / orders, margin: 28 + (value % 7000) / 1000 };
  }

  window.flowData = { YEARS, QUARTERS, REVENUE, money, revenue, total, months, summary, details };
})();
