// Every page, in the order of the report.

import { pages as canvases } from './canvases.mjs';
import { pages as components } from './components.mjs';
import { pages as dates } from './dates.mjs';
import { pages as drags } from './drags.mjs';
import { pages as editors } from './editors.mjs';
import { pages as grids } from './grids.mjs';
import { pages as more } from './more.mjs';
import { pages as overlays } from './overlays.mjs';
import { pages as own } from './own.mjs';
import { pages as selects } from './selects.mjs';

export const PAGES = [...editors, ...selects, ...dates, ...grids, ...drags, ...overlays, ...canvases, ...components, ...more, ...own];
