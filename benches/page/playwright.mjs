// The same operations with playwright-core, over the port of the same browser: node playwright.mjs ENDPOINT URL see|click ROUNDS
import {chromium} from "playwright-core";

const [endpoint, url, what, rounds] = process.argv.slice(2);
const browser = await chromium.connectOverCDP(endpoint);
const page = await browser.contexts()[0].newPage();
await page.goto(url);
await page.waitForLoadState("load");
const see = async () => {
  if (page._snapshotForAI) return page._snapshotForAI();
  return page.locator("body").ariaSnapshot({mode: "ai"}).catch(() => page.locator("body").ariaSnapshot());
};
const click = () => page.getByRole("button", {name: "press me"}).click();
const run = what === "see" ? see : click;
const times = [];
await run();
for (let round = 0; round < +rounds; round++) {
  const began = performance.now();
  await run();
  times.push(performance.now() - began);
}
times.sort((a, b) => a - b);
console.log(times[Math.floor(times.length / 2)].toFixed(2));
await page.close();
await browser.close();
