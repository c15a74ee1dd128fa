// Reads an HTTP Archive and checks it against the schema of HAR 1.2. Usage: node validate.mjs FOLDER ARCHIVE, where FOLDER
// has the packages of package.json. Prints what is wrong; exit status 1 then.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [folder, archive] = process.argv.slice(2);
const require = createRequire(join(resolve(folder), 'package.json'));
const Ajv = require('ajv');
const schemas = require('har-schema');
const ajv = new Ajv({ allErrors: true });
ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-06.json'));
ajv.addSchema(Object.values(schemas));
const valid = ajv.validate('har.json#', JSON.parse(readFileSync(archive, 'utf8')));
if (!valid) {
  console.log(ajv.errorsText(ajv.errors, { separator: '\n' }));
  process.exit(1);
}
console.log('valid');
