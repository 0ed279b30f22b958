/** The section on people: faces, hands and bodies in the frames of a camera, 1280 × 720. */
import { tell } from './lib/progress.mjs';
import { atLeast, atMost, minus, row } from './lib/rows.mjs';
import { pairs } from './lib/statistics.mjs';
import { ownTime, TASK_CATEGORIES } from './lib/trace.mjs';

/** In this many rounds the detector runs six times. */
const ROUNDS = { warmUps: 20, rounds: 60 };
/** A camera runs on: the page's functions are compiled after some seconds of it. */
const TRACED = { warmUps: 100, rounds: 100 };
const ASTRONAUT = '/models/selfie/samples/astronaut.jpg';
const KINDS = {
  face: { archive: '/models/face/', detectorSide: 128, side: 192, photo: ASTRONAUT },
  hand: { archive: '/models/hand/', detectorSide: 256, side: 224, photo: '/models/hand/samples/sofa.jpg' },
  pose: { archive: '/models/pose/', detectorSide: 224, side: 256, photo: ASTRONAUT },
};

/**
 * @param {(backend: 'wasm' | 'webgpu') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 */
export async function peopleRows(launch, url) {
  const rows = [];
  for (const [name, options] of Object.entries(KINDS)) {
    tell(`people: ${name}`);
    const browser = await launch('wasm');
    try {
      const page = await openPage(browser, url);
      const measured = await page.evaluate((all) => globalThis.people.measurePeople(all), { ...options, ...ROUNDS });
      await page.close();
      rows.push(...rowsOf(name, measured), pageRow(name, await tracePage(browser, url, options)));
    } finally {
      await browser.close();
    }
  }
  return rows;
}

async function openPage(browser, url) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}people/index.html`);
  await page.waitForFunction(() => 'people' in globalThis);
  return page;
}

/** Returns the milliseconds of its own that the page's main thread spends on a frame, more than on waiting. */
async function tracePage(browser, url, options) {
  await browser.startTracing(undefined, { categories: TASK_CATEGORIES });
  const page = await openPage(browser, url);
  await page.evaluate((all) => globalThis.people.markPeople(all), { ...options, ...TRACED });
  const { frames, idle } = ownTime((await browser.stopTracing()).toString());
  await page.close();
  return (frames - idle) / TRACED.rounds;
}

function pageRow(kind, time) {
  return row(`people: ${kind}: the page's main thread, own time a frame`, time, 'ms', atMost(1, 'ms'));
}

function rowsOf(kind, { onnx, tfjs, byHand, tracked, model, count }) {
  const name = `people: ${kind}, ${count} in the picture`;
  // The detector runs in every tenth frame, so a camera's rate follows from the sum.
  const rate = (times) => (1000 * times.length) / times.reduce((sum, one) => sum + one, 0);
  return [
    row(`${name}: TabServe on onnx/wasm`, rate(onnx), 'frames/s'),
    row(`${name}: TabServe on tfjs/wasm`, rate(tfjs), 'frames/s'),
    row(`${name}: TensorFlow.js by hand`, rate(byHand), 'frames/s'),
    row(`${name}: TabServe on onnx/wasm over TensorFlow.js by hand`, rate(onnx) / rate(byHand), '×'),
    row(`${name}: TabServe on tfjs/wasm over TensorFlow.js by hand`, rate(tfjs) / rate(byHand), '×', atLeast(1, '×')),
    row(`${name}: a frame without detection on onnx/wasm, from call to answer`, tracked, 'ms'),
    row(`${name}: the runs of the model of landmarks alone, on onnx/wasm`, model, 'ms'),
    row(`${name}: a frame without detection, less these runs`, pairs(tracked, model, minus), 'ms', atMost(3, 'ms')),
  ];
}
