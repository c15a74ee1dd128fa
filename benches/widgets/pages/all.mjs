// Every page, in the order of the report.

import { pages as own } from './own.mjs';

export const PAGES = [...own];
