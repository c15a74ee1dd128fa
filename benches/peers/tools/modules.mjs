// Paths of the packages in node_modules.

import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

export const moduleFile = (name, file) => fileURLToPath(new URL(`../node_modules/${name}/${file}`, import.meta.url));

const manifest = (name) => JSON.parse(fs.readFileSync(moduleFile(name, 'package.json'), 'utf8'));

export const versionOf = (name) => manifest(name).version;

/** The script behind a command of a package. */
export function commandOf(name, command) {
  const { bin } = manifest(name);
  return moduleFile(name, typeof bin === 'string' ? bin : bin[command]);
}
