/** Calls the page that measures clients in turns: `bench/app/threads`. */
import { tell } from './progress.mjs';

/** Calls the page's function in a fresh page. */
export async function onTurnsPage(browser, url, work, options) {
  tell(`${options.label}: ${options.settings.map(({ name }) => name).join(', ')}`);
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}threads/index.html`);
  await page.waitForFunction(() => 'turns' in globalThis);
  try {
    return await page.evaluate(([work, options]) => globalThis.turns[work](options), [work, options]);
  } finally {
    await page.close();
  }
}

/** What `ours` takes over `theirs`, by round. */
export function ratios(ours, theirs) {
  return ours.map((value, round) => value / theirs[round]);
}
