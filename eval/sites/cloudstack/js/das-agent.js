/** CloudStack DAS: what the agent understands and answers. */
(function () {
  'use strict';

  // A message has one topic: the one that most of its words, weighted, belong to.
  const WORDS = {
    storage: { storage: 2, disk: 2, disks: 2, capacity: 2, space: 1, usage: 1, used: 1, full: 1, gib: 1, gb: 1, tb: 1 },
    status: { status: 1, system: 1, systems: 1, state: 1, health: 1, healthy: 1, running: 1, operational: 2, online: 1, uptime: 2, cpu: 2, load: 1, services: 1, performance: 1, memory: 1 },
    statements: { slow: 1, statement: 2, statements: 2, query: 2, queries: 2, index: 2, indexes: 2, latency: 1 },
    backup: { backup: 2, backups: 2, restore: 2, snapshot: 2 },
  };
  const GREETING = /\b(hello|hi|hey|greetings|good (morning|afternoon|evening|day))\b/i;

  const ANSWERS = {
    greeting: 'Hello! I am the DAS Agent. I watch seven databases of this workspace. What would you like to know?',
    status: 'Six of seven databases work normally.\nWarning: catalog-replica is four seconds behind its source.\nHighest load: reporting with 64 % CPU. Uptime of orders-primary: 83 days.',
    storage: '1,425 of 1,940 GiB are in use.\nFullest: reporting with 840 of 1,000 GiB, full in about 19 days at the present growth.\norders-primary: 390 of 500 GiB. All others are below 65 %.',
    statements: 'The slowest statement today counts events in reporting, 9.3 seconds on average.\nAn index on lines.order_id would speed up the most frequent one.',
    backup: 'All databases were saved last night. The last restore test of orders-primary took six minutes.',
    general: 'I can tell you about the status of your databases, their storage, slow statements and backups. Which of these do you mean?',
  };

  function score(words, weights) {
    return [...new Set(words)].reduce((sum, word) => sum + (weights[word] || 0), 0);
  }

  function understand(text) {
    const words = text.toLowerCase().match(/[a-z]+/g) || [];
    const scores = Object.entries(WORDS).map(([topic, weights]) => [topic, score(words, weights)]).filter(([, points]) => points > 0);
    // The sort is stable: with equal points the topic that is listed first wins.
    scores.sort((a, b) => b[1] - a[1]);
    if (scores.length === 0) return { topic: GREETING.test(text) ? 'greeting' : 'general', several: false };
    return { topic: scores[0][0], several: scores.length > 1 && scores[1][1] > 1 };
  }

  function answer({ topic, several }) {
    const more = several ? '\n\nI answer one question at a time. Please send the others separately.' : '';
    return ANSWERS[topic] + more;
  }

  window.dasAgent = { understand, answer, isGreeting: (text) => GREETING.test(text) };
})();
