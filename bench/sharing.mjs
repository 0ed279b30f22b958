// How long five tabs that share a model wait when the host tab is closed under a hundred requests, on WASM. It
// prints a table. node bench/sharing.mjs [handovers]
import { openTestPages } from './lib/test-page.mjs';

const handovers = Number(process.argv[2] ?? 5);
const { browser, goto, close } = await openTestPages();
try {
  const context = await browser.newContext();
  const pages = [];
  while (pages.length < 5) pages.push(await openTab(context));
  const rows = [];
  while (rows.length < handovers) {
    const [host, ...guests] = pages;
    const asked = guests.map((page) => page.evaluate(ask, 25));
    await Promise.all(guests.map((page) => page.waitForFunction(() => window.hasAsked)));
    const closed = Date.now();
    await host.close();
    const seen = (await Promise.all(asked)).flat();
    const times = seen.flatMap(({ isAnswered, at }) => (isAnswered && at > closed ? [at - closed] : []));
    rows.push({
      answered: seen.filter(({ isAnswered }) => isAnswered).length,
      'before the close': seen.filter(({ at }) => at <= closed).length,
      'last answer (ms)': Math.max(...times),
    });
    pages.splice(0, 1);
    // The tab that took over is the next to be closed.
    const isHost = await Promise.all(
      pages.map((page) => page.evaluate(async () => (await window.shared.describe()).sharing.role === 'host')),
    );
    pages.unshift(...pages.splice(isHost.indexOf(true), 1));
    pages.push(await openTab(context));
  }
  console.table(rows);
} finally {
  await close();
}

async function openTab(context) {
  const page = await context.newPage();
  await goto(page, 'tabserve');
  await page.evaluate(async () => {
    const options = { backends: ['wasm'], share: true, jobQueueSize: 200 };
    window.shared = await window.tabserve.load('/models/digits/', options);
  });
  return page;
}

/** Runs in the page: requests at once, and when each was settled. @param {number} count */
async function ask(count) {
  const photo = await (await fetch('/models/digits/samples/digit-4.png')).blob();
  const all = Array.from({ length: count }, () =>
    window.shared.predict(photo).then(
      ([best]) => ({ isAnswered: best.label === 'four', at: Date.now() }),
      () => ({ isAnswered: false, at: Date.now() }),
    ),
  );
  window.hasAsked = true;
  const settled = await Promise.all(all);
  window.hasAsked = false;
  return settled;
}
