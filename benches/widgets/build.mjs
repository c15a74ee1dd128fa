// Bundles the script of a page with esbuild. Builds are cached by source text and versions.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import esbuild from 'esbuild';

export const HERE = fileURLToPath(new URL('.', import.meta.url));
export const BUILT = path.join(HERE, 'built');

export const slug = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

const lock = () => fs.readFileSync(path.join(HERE, 'package-lock.json'), 'utf8');

// Signals that the page is ready after everything that the script awaits.
const around = (script) => `${script}\n;window.ready = true;\n`;

export async function build(page) {
  const name = slug(page.name);
  const stamp = createHash('sha256').update(JSON.stringify([page.js, page.css, page.build])).update(lock()).digest('hex');
  const stampFile = path.join(BUILT, `${name}.stamp`);
  if (fs.existsSync(stampFile) && fs.readFileSync(stampFile, 'utf8') === stamp) return;
  const styles = (page.css ?? []).map((file) => `import '${file}';\n`).join('');
  await esbuild.build({
    stdin: { contents: styles + around(page.js ?? ''), resolveDir: HERE, loader: 'jsx', sourcefile: `${name}.jsx` },
    outfile: path.join(BUILT, `${name}.js`),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    loader: Object.fromEntries(
      ['.woff', '.woff2', '.ttf', '.eot', '.png', '.gif', '.svg', '.webp', '.cur'].map((ending) => [ending, 'dataurl']),
    ),
    logLevel: 'silent',
    legalComments: 'none',
    ...page.build,
  });
  fs.writeFileSync(stampFile, stamp);
}
