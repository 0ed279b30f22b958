// What a shadow costs the requests that it follows: the latency of `ModelServer.fetch` with and without one, on WASM,
// with requests at random times. It prints a table. node bench/shadow.mjs [requests of a block]
import { openTestPages } from './lib/test-page.mjs';

const requests = Number(process.argv[2] ?? 150);
const { browser, goto, close } = await openTestPages();
try {
  const page = await browser.newPage();
  await goto(page, 'ModelServer');
  const { blocks, report } = await page.evaluate(measure, requests);
  const rows = [false, true].map((shadow) => {
    const times = blocks.filter((block) => block.shadow === shadow).flatMap((block) => block.times);
    const at = (share) => times.toSorted((a, b) => a - b)[Math.floor(times.length * share)].toFixed(2);
    return { shadow, requests: times.length, 'p50 (ms)': at(0.5), 'p95 (ms)': at(0.95), 'p99 (ms)': at(0.99) };
  });
  console.table(rows);
  console.log(report);
} finally {
  await close();
}

/** Runs in the page: eight blocks of requests, every other one with the shadow. @param {number} requests */
async function measure(requests) {
  const server = new window.ModelServer({ load: window.tabserve.load });
  const options = { name: 'digits', handler: 'image_classifier', backends: ['wasm'] };
  for (const version of ['1', '2']) await server.register('/models/digits/', { ...options, version });
  const picture = await (await fetch('/models/digits/samples/digit-0.png')).blob();
  const next = window.random(11);
  const blocks = [];
  const report = { requests: 0, compared: 0, interrupted: 0 };
  for (let block = 0; block < 8; block++) {
    const shadow = block % 2 === 1 ? server.shadow('digits', '2') : undefined;
    const times = [];
    for (let request = 0; request < requests; request++) {
      const started = performance.now();
      await (await server.fetch(new Request('/predictions/digits', { method: 'POST', body: picture }))).json();
      times.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, -Math.log(1 - next()) * 120));
    }
    shadow?.stop();
    for (const key of Object.keys(report)) report[key] += shadow?.report()[key] ?? 0;
    blocks.push({ shadow: shadow !== undefined, times });
  }
  await server.dispose();
  return { blocks, report };
}
