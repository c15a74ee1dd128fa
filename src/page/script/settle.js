// When what an action caused has come to an end in this document.

let changes = 0;
let lastChange = 0;
let observer = null;
let unwatch = 0;
// Nobody asks after an action for so long.
const WATCHED = 15000;

/** Counts changes of the document from now on. */
calls.watch = () => {
  changes = 0;
  clearTimeout(unwatch);
  unwatch = setTimeout(() => {
    if (observer) observer.disconnect();
    observer = null;
  }, WATCHED);
  if (!observer) {
    observer = new MutationObserver((records) => {
      changes += records.length;
      lastChange = performance.now();
    });
    observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    for (const root of openRoots()) observer.observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
  }
  return 0;
};

/** The shadow roots that changes are looked for in: those of the walk before, not of the whole document. */
function openRoots() {
  return typeof knownRoots === "function" ? knownRoots() : [];
}

/**
 * Waits until what runs now has run, and then until nothing has changed for `quiet` milliseconds, `most` milliseconds at
 * most. Gives how much changed and whether it has come to rest.
 */
calls.quiet = async ({quiet, most}) => {
  const end = performance.now() + most;
  await turn();
  await turn();
  const untold = observer ? observer.takeRecords().length : 0;
  if (untold) {
    changes += untold;
    lastChange = performance.now();
  }
  let rest = true;
  while (changes > 0) {
    const now = performance.now();
    if (now - lastChange >= quiet) break;
    if (now >= end) {
      rest = false;
      break;
    }
    await after(Math.min(quiet - (now - lastChange), end - now) + 1);
  }
  const seen = changes;
  changes = 0; // what comes after that is counted by the next look
  return {changes: seen, rest};
};

/** A turn of the event loop: tasks that were due before it have run. */
function turn() {
  return new Promise((done) => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(0);
  });
}

function after(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}
