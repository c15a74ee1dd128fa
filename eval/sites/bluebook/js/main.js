// BlueBook: starts the tracker, the feed and the detail view.

import { makeNotes } from './notes.js';
import { startFeed } from './feed.js';
import { startDetail } from './detail.js';

window.tracker = new window.AgentTracker('bluebook', 'hard');

const { seed } = window.evalRun;
const notes = makeNotes(seed);
const detail = startDetail();
startFeed(notes, seed, detail);
