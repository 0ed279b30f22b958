/** The section on frames: what a camera's frame costs besides its inference, by part. */
import { tell } from './lib/progress.mjs';
import { median, paired, quantile } from './lib/statistics.mjs';
import { ownTime, TASK_CATEGORIES } from './lib/trace.mjs';

const WIDTH = 1280;
const HEIGHT = 720;
const FORMATS = ['I420', 'NV12'];
const PARTS = { backend: 'wasm', warmUps: 30, rounds: 120 };
/** A camera runs on: the page's functions are compiled after some seconds of it. */
const TRACED = { backend: 'wasm', format: 'I420', warmUps: 150, rounds: 100 };
/** Four contenders, whose inferences take turns. */
const BY_HAND = { backend: 'wasm', format: 'I420', warmUps: 20, rounds: 60 };
/**
 * With two workers, one reads the next frame while the other computes. A GPU has one worker, which reads while the GPU
 * computes.
 */
const THROUGHPUTS = [
  { backend: 'wasm', workers: 1, rounds: 5, frames: 40 },
  { backend: 'wasm', workers: 2, rounds: 5, frames: 40, goal: 0.95 },
  // In software it takes a minute, and is measured only with `--only frames`.
  { backend: 'webgpu', workers: 1, rounds: 2, frames: 2, goal: 0.95 },
];

/**
 * @param {(backend: 'wasm' | 'webgpu') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 * @param {{ isAlone: boolean }} mode `isAlone`: whether no other part is measured
 */
export async function frameRows(launch, url, { isAlone }) {
  const rows = [];
  const browser = await launch('wasm');
  try {
    for (const format of FORMATS)
      rows.push(...partRows(format, await onPage(browser, url, 'measureHandlers', { ...PARTS, format })));
    rows.push(...pageRows(await tracePage(browser, url)));
    rows.push(...byHandRows(await onPage(browser, url, 'measureByHand', BY_HAND)));
  } finally {
    await browser.close();
  }
  for (const { goal, ...options } of THROUGHPUTS.filter(({ backend }) => isAlone || backend === 'wasm')) {
    const own = await launch(options.backend);
    try {
      const size = { width: WIDTH, height: HEIGHT };
      rows.push(...throughputRows(options, goal, await onPage(own, url, 'measureThroughput', { ...options, ...size })));
    } finally {
      await own.close();
    }
  }
  return rows;
}

/** Calls the page's function in a fresh page. */
async function onPage(browser, url, work, options) {
  const { backend, format, workers } = options;
  tell(`frames: ${work} on ${backend}${workers ? `, workers: ${workers}` : `, ${format}`}`);
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}frames/index.html`);
  await page.waitForFunction(() => 'frames' in globalThis);
  try {
    return await page.evaluate(([work, options]) => globalThis.frames[work](options), [work, options]);
  } finally {
    await page.close();
  }
}

/**
 * Returns the milliseconds of its own that the page's main thread spends on a frame and on a bare message, more than on
 * waiting.
 */
async function tracePage(browser, url) {
  await browser.startTracing(undefined, { categories: TASK_CATEGORIES });
  await onPage(browser, url, 'markPage', TRACED);
  const { frames, bare, idle } = ownTime((await browser.stopTracing()).toString());
  return {
    ours: (frames - idle) / TRACED.rounds,
    bare: bare / TRACED.rounds,
  };
}

function row(name, value, unit, goal = null, holds = null) {
  return { name: `frames: ${name}`, value: Number(value.toPrecision(4)), unit, goal, holds };
}

function partRows(format, { elapsed, ...parts }) {
  const name = `onnx/wasm, ${format} of ${WIDTH} × ${HEIGHT}`;
  const beside = paired(elapsed, parts.inference, (all, inference) => all - inference);
  const least = Math.min(...elapsed.map((all, round) => all - parts.inference[round]));
  return [
    row(`${name}, from call to answer, median`, median(elapsed), 'ms'),
    ...Object.entries(parts).map(([part, times]) => row(`${name}: ${part}, median`, median(times), 'ms')),
    row(
      `${name}: all but inference, 10th percentile`,
      quantile(
        elapsed.map((all, at) => all - parts.inference[at]),
        0.1,
      ),
      'ms',
    ),
    row(`${name}: all but inference, least`, least, 'ms'),
    row(`${name}: all but inference, median`, beside, 'ms', '<= 8 ms', beside <= 8),
  ];
}

function pageRows({ ours, bare }) {
  return [
    row(`the page's main thread, own time of a bare message with a frame, and one back with a mask`, bare, 'ms'),
    row(`the page's main thread, own time a frame`, ours, 'ms', '<= 1 ms', ours <= 1),
  ];
}

/** For context: what is by hand has a mask of 8 bits, and the canvas's scaling. */
function byHandRows({ times, means }) {
  const names = {
    ours: 'TabServe',
    onnx: 'ONNX Runtime by hand',
    tfjs: 'TensorFlow.js by hand',
    mediaPipe: 'MediaPipe Tasks on the page’s thread',
  };
  const over = (other) =>
    row(
      `a frame to its mask, TabServe over ${names[other]}`,
      paired(times.ours, times[other], (a, b) => a / b),
      '×',
    );
  return [
    ...Object.entries(names).flatMap(([key, name]) => [
      row(`a frame to its mask, ${name}, median`, median(times[key]), 'ms'),
      row(`a frame to its mask, ${name}, mean of the mask`, means[key], 'probability'),
    ]),
    over('onnx'),
    over('tfjs'),
    over('mediaPipe'),
  ];
}

function throughputRows({ backend, workers }, goal, { inference, streamed, interval }) {
  const name = `client.frames on onnx/${backend}, ${workers} ${workers === 1 ? 'worker' : 'workers'}`;
  const part = paired(inference, interval, (alone, between) => alone / between);
  return [
    row(name, 1000 / median(interval), 'frames/s'),
    row(
      `${name}: a frame's inference over that of a frame alone`,
      paired(inference, streamed, (alone, among) => among / alone),
      '×',
    ),
    row(
      `${name}, over the inferences of one frame after another`,
      part,
      '×',
      ...(goal ? [`>= ${goal} ×`, part >= goal] : []),
    ),
  ];
}
