// Counts the tokens of a recorded MCP job, per call: name, arguments and text of the result, without
// images.
//
//   JOB_TRANSCRIPT=/tmp/job.json cargo test --workspace --test program -- mcp_job
//   node job.mjs /tmp/job.json

import fs from 'node:fs';

import { getEncoding } from 'js-tiktoken';

const encoding = getEncoding('o200k_base');
const steps = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
let [tokens, bytes] = [0, 0];
for (const { name, arguments: given, text } of steps) {
  const [asked, told] = [`${name} ${JSON.stringify(given)}`, text].map((part) => encoding.encode(part).length);
  console.log(`${String(asked).padStart(5)} + ${String(told).padStart(5)}  ${name}`);
  tokens += asked + told;
  bytes += Buffer.byteLength(name + JSON.stringify(given) + text);
}
console.log(`${tokens} tokens, ${bytes} bytes (${(bytes / tokens).toFixed(2)} a token) in ${steps.length} calls`);
