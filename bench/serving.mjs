/** The section on serving: what batches and the pipeline gain, and that they cost one who needs neither nothing. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeLargeModel } from './lib/large-model.mjs';
import { tell } from './lib/progress.mjs';
import { atLeast, minus, over, row as rowOf } from './lib/rows.mjs';
import { pairs, quantile } from './lib/statistics.mjs';

const BATCHING = { batchSize: 8, runs: 12, rounds: 5 };
const INTERACTIVE = { batchSize: 8, rounds: 60, openings: 3 };
const LAYERS = { atOnce: 960, rounds: 7, batchSize: 16, layers: 384, width: 16 };
const LARGE = { bytes: 3 * 224 * 224 * 4, rounds: 100 };
/**
 * On a GPU that is software the model takes as many cores as there are; then a large photo is what leaves something to
 * hide. It is measured only with `--only serving`.
 */
const PIPELINES = [
  { name: 'onnx/wasm, two workers', options: { backend: 'wasm', width: 1600, height: 1200, rounds: 5, requests: 12 } },
  {
    name: 'onnx/webgpu, one worker',
    options: { backend: 'webgpu', width: 4000, height: 3000, rounds: 4, requests: 8 },
  },
];

/** Writes a model of many small layers, whose batch is as large as one likes. */
export async function writeServingModels(folder) {
  const { layers, width } = LAYERS;
  mkdirSync(join(folder, 'layers'), { recursive: true });
  await writeLargeModel(join(folder, 'layers'), { layers, width, batch: 'batch', isExternal: false });
}

/**
 * @param {(backend: 'wasm' | 'webgpu') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 * @param {{ isAlone: boolean }} mode `isAlone`: whether no other part is measured
 */
export async function servingRows(launch, url, { isAlone }) {
  const on = async (backend, work, options) => {
    tell(`serving: ${work} on ${backend}`);
    const browser = await launch(backend);
    try {
      const page = await browser.newPage();
      page.on('pageerror', (error) => console.error(error));
      await page.goto(`${url}serving/index.html`);
      await page.waitForFunction(() => 'serving' in globalThis);
      return await page.evaluate(([work, options]) => globalThis.serving[work](options), [work, options]);
    } finally {
      await browser.close();
    }
  };
  const rows = [
    ...layerRows(await on('wasm', 'measureLayers', LAYERS)),
    ...largeRows(await on('wasm', 'measureLarge', LARGE)),
    ...batchingRows(await on('wasm', 'measureBatching', BATCHING)),
    ...interactiveRows(await on('wasm', 'measureInteractive', INTERACTIVE)),
  ];
  for (const { name, options } of PIPELINES.filter(({ options }) => isAlone || options.backend === 'wasm'))
    rows.push(...pipelineRows(name, options, await on(options.backend, 'measurePipeline', options)));
  return rows;
}

function row(name, values, unit, goal) {
  return rowOf(`serving: ${name}`, values, unit, goal);
}

/** Of a model that takes hardly longer for a batch than for a row. */
function layerRows({ bare, batched }) {
  const { atOnce, batchSize, layers } = LAYERS;
  const rates = (times) => times.map((time) => (1000 * atOnce) / time);
  const what = `${atOnce} at once of a model of ${layers} small layers`;
  return [
    row(`${what}: ONNX Runtime behind bare comlink`, rates(bare), 'requests/s'),
    row(`${what}: TabServe, batchSize ${batchSize}`, rates(batched), 'requests/s'),
    row(`${what}, batchSize ${batchSize}: over bare comlink`, pairs(bare, batched, over), '×', atLeast(3, '×')),
  ];
}

/** What a copy costs on its way into an engine's memory, by the way that it takes. */
function largeRows(times) {
  const what = `a tensor of ${Math.round(LARGE.bytes / 1000)} kB into a worker's WebAssembly memory`;
  return [
    row(`${what}: copied and transferred, as a request is`, times.transferred, 'ms'),
    row(`${what}: cloned with its message`, times.cloned, 'ms'),
    row(`${what}: copied into shared memory`, times.shared, 'ms'),
    row(`${what}: transferred without a copy, as with transfer: true`, times.moved, 'ms'),
    row(
      `${what}: shared memory beyond a copy that is transferred`,
      pairs(times.shared, times.transferred, minus),
      'ms',
    ),
  ];
}

function batchingRows({ raw, rawSingly, ours }) {
  const { batchSize, runs } = BATCHING;
  const rates = (times) => times.map((time) => (1000 * runs * batchSize) / time);
  return [
    row(`raw InferenceSession.run, one row at a time`, rates(rawSingly), 'rows/s'),
    row(`raw InferenceSession.run, ${batchSize} ready rows at a time`, rates(raw), 'rows/s'),
    row(`TabServe predict, batchSize ${batchSize}`, rates(ours), 'rows/s'),
    row(
      `what a batch of ${batchSize} costs beyond its run`,
      pairs(ours, raw, (a, b) => (a - b) / runs),
      'ms',
    ),
    row(
      `dynamic batching over raw runs of ${batchSize} rows`,
      pairs(ours, raw, (a, b) => (100 * b) / a),
      '%',
      atLeast(95, '%'),
    ),
    row(`dynamic batching over raw runs of one row`, pairs(rawSingly, ours, over), '×'),
  ];
}

function interactiveRows({ batched, single }) {
  // Half the 95 % confidence interval of a median of so many, by the order statistics of the binomial distribution.
  const ratios = pairs(batched, single, over);
  const reach = 0.98 / Math.sqrt(ratios.length);
  const [low, high] = [quantile(ratios, 0.5 - reach), quantile(ratios, 0.5 + reach)];
  return [
    row(`one user at a time, batchSize 1`, single, 'ms'),
    row(`one user at a time, batchSize ${INTERACTIVE.batchSize}`, batched, 'ms'),
    row(
      `one user at a time, batchSize ${INTERACTIVE.batchSize} over batchSize 1 (95 % of chance: ${low.toFixed(3)} to ${high.toFixed(3)})`,
      ratios,
      '×',
      { text: '<= 1.02 ×, or 1 is within what chance explains', holds: (ratio) => ratio <= 1.02 || low <= 1 },
    ),
  ];
}

function pipelineRows(name, { width, height }, { preprocess, inference, alone, pipelined }) {
  const hidden = (round) =>
    (100 * (preprocess[round] + inference[round] - pipelined[round])) / Math.min(preprocess[round], inference[round]);
  const parts = pipelined.map((_, round) => hidden(round));
  const photo = `${name}, photo of ${width} × ${height}`;
  return [
    row(`${photo}, alone: preprocess`, preprocess, 'ms'),
    row(`${photo}, alone: inference`, inference, 'ms'),
    row(`${photo}, alone: from call to answer`, alone, 'ms'),
    row(`${photo}, pipelined: one in`, pipelined, 'ms'),
    row(`${photo}: of the shorter of preprocess and inference, hidden`, parts, '%', atLeast(80, '%')),
  ];
}
