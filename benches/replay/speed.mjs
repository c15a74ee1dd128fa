// How long a routine takes that is done without a model, beside the same clicks through POST /act.

import { Model } from './model.mjs';
import { Ours, until } from './ours.mjs';
import { Site } from './server.mjs';
import { button } from './sites.mjs';
import { unchanged } from './mutate.mjs';

const STEPS = 10;
const ROUNDS = 7;
const NAMES = ['Ant', 'Bee', 'Cat', 'Dog', 'Elk', 'Fox', 'Goat', 'Hen', 'Ibis', 'Jay'];

const SITE = {
  name: 'ten',
  page: () => [{ kind: 'form', title: 'Animals', parts: NAMES.map((name) => button(name, `feed ${name}`)) }],
  text: NAMES.map((name) => [`Feed the ${name}`, `Press ${name}.`]),
  work: NAMES.map((name) => [{ kind: 'click', at: { role: 'button', name } }]),
  acts: NAMES.map((name) => `feed ${name}`),
};

const median = (numbers) => [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** Medians in milliseconds: a run, a step of it, an action by ref. */
export async function speed({ browser, folder }) {
  const [served, model, ours] = [new Site(SITE), new Model(), new Ours()];
  await served.start();
  await model.start();
  const [runs, steps, acts] = [[], [], []];
  try {
    await ours.start({ browser, folder, model });
    served.serve(unchanged(SITE));
    await ours.learn(SITE, served);
    const { targetId } = await ours.ask('POST', '/tabs/open', { url: served.url });
    for (let round = 0; round < ROUNDS; round += 1) {
      served.serve(unchanged(SITE));
      const began = performance.now();
      const run = await ours.run({ model: 'none' });
      runs.push(performance.now() - began);
      if (run.status !== 'done' || served.acts.length !== STEPS) throw new Error(`ten steps: ${JSON.stringify(run)}`);
      steps.push(...run.steps.map(({ seconds }) => seconds * 1000));
      const { refs } = await ours.ask('GET', `/snapshot?targetId=${targetId}`);
      for (const name of NAMES) {
        const [ref] = Object.entries(refs).find(([, info]) => info.role === 'button' && info.name === name);
        const start = performance.now();
        await ours.ask('POST', '/act', { kind: 'click', ref, targetId });
        acts.push(performance.now() - start);
      }
      await until('the requests of the clicks', () => served.acts.length === 2 * STEPS);
    }
  } finally {
    await ours.stop();
    model.close();
    served.close();
  }
  return { run: median(runs), step: median(steps), act: median(acts) };
}
