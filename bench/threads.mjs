/**
 * The part on threads: models of several sizes on ONNX Runtime's WASM with one thread and more, and what a pool does
 * with the same cores.
 */
import { availableParallelism } from 'node:os';
import { row } from './lib/rows.mjs';
import { onTurnsPage, ratios } from './lib/turns.mjs';

const MODELS = [
  { label: 'digits', model: '/models/digits/', handler: 'image_classifier', warmUps: 20, rounds: 100 },
  { label: 'selfie', model: '/models/selfie/', handler: 'image_segmenter', warmUps: 5, rounds: 30 },
  { label: 'MobileNetV2 1.4', model: '/model/', handler: 'image_classifier', warmUps: 3, rounds: 12 },
  { label: 'NanoDet', model: '/models/nanodet/', handler: 'object_detector', warmUps: 3, rounds: 15 },
];
const POOL = {
  label: 'selfie',
  model: '/models/selfie/',
  handler: 'image_segmenter',
  warmUps: 0,
  rounds: 3,
  requests: 16,
};

const COUNTS = [1, 2, 4].filter((count) => count <= availableParallelism());

/**
 * @param {(backend: 'wasm') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 */
export async function threadRows(launch, url) {
  const browser = await launch('wasm');
  try {
    const rows = [];
    for (const options of MODELS) {
      const settings = COUNTS.map((threads) => ({ name: nameOf(threads), candidate: 'onnx/wasm', threads }));
      rows.push(...turnRows(options.label, await onTurnsPage(browser, url, 'measureTurns', { ...options, settings })));
    }
    return [...rows, ...(await poolRows(browser, url))];
  } finally {
    await browser.close();
  }
}

function nameOf(threads) {
  return threads === 1 ? '1 thread' : `${threads} threads`;
}

function turnRows(label, measured) {
  const one = measured[nameOf(1)].times;
  return Object.entries(measured).flatMap(([name, { times, threads }]) => {
    if (nameOf(threads) !== name) throw new Error(`${label} ran with ${threads} threads, not with ${name}.`);
    const what = `threads: ${label} on onnx/wasm, ${name}`;
    const time = row(`${what}: inference`, times, 'ms');
    return threads === 1 ? [time] : [time, row(`${what} over one`, ratios(times, one), '×')];
  });
}

/** Requests at once on the same cores: several workers of few threads, or few workers of several. */
async function poolRows(browser, url) {
  const most = COUNTS.at(-1);
  const settings = COUNTS.map((threads) => {
    const workers = Math.floor(most / threads);
    return { name: `${workers} × ${nameOf(threads)}`, candidate: 'onnx/wasm', threads, workers };
  });
  const measured = await onTurnsPage(browser, url, 'measureThroughput', { ...POOL, settings });
  return Object.entries(measured).map(([name, times]) => {
    const perSecond = times.map((milliseconds) => (POOL.requests / milliseconds) * 1000);
    return row(`threads: ${POOL.label}, ${POOL.requests} requests at once, workers ${name}`, perSecond, 'requests/s');
  });
}
