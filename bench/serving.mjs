/** The section on serving: what batches and the pipeline gain, and that they cost one who needs neither nothing. */
import { tell } from './lib/progress.mjs';
import { median, paired, quantile } from './lib/statistics.mjs';

const BATCHING = { batchSize: 8, runs: 12, rounds: 15 };
const INTERACTIVE = { batchSize: 8, rounds: 80, openings: 4 };
/** On a GPU that is software the model takes as many cores as there are; then a large photo is what leaves something to hide. */
const PIPELINES = [
  { name: 'onnx/wasm, two workers', options: { backend: 'wasm', width: 1600, height: 1200, rounds: 9, requests: 12 } },
  {
    name: 'onnx/webgpu, one worker',
    options: { backend: 'webgpu', width: 4000, height: 3000, rounds: 9, requests: 8 },
  },
];

/**
 * @param {(backend: 'wasm' | 'webgpu') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 */
export async function servingRows(launch, url) {
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
    ...batchingRows(await on('wasm', 'measureBatching', BATCHING)),
    ...interactiveRows(await on('wasm', 'measureInteractive', INTERACTIVE)),
  ];
  for (const { name, options } of PIPELINES)
    rows.push(...pipelineRows(name, options, await on(options.backend, 'measurePipeline', options)));
  return rows;
}

function row(name, value, unit, goal = null, holds = null) {
  return { name: `serving: ${name}`, value: Number(value.toPrecision(4)), unit, goal, holds };
}

function batchingRows({ raw, rawSingly, ours }) {
  const { batchSize, runs } = BATCHING;
  const throughput = (times) => (1000 * runs * batchSize) / median(times);
  const part = 100 * paired(ours, raw, (a, b) => b / a);
  return [
    row(`raw InferenceSession.run, one row at a time`, throughput(rawSingly), 'rows/s'),
    row(`raw InferenceSession.run, ${batchSize} ready rows at a time`, throughput(raw), 'rows/s'),
    row(`TabServe predict, batchSize ${batchSize}`, throughput(ours), 'rows/s'),
    row(
      `what a batch of ${batchSize} costs beyond its run`,
      paired(ours, raw, (a, b) => (a - b) / runs),
      'ms',
    ),
    row(`dynamic batching over raw runs of ${batchSize} rows`, part, '%', '>= 95 %', part >= 95),
  ];
}

function interactiveRows({ batched, single }) {
  const ratio = paired(batched, single, (a, b) => a / b);
  // Half the 95 % confidence interval of a median of so many, by the order statistics of the binomial distribution.
  const ratios = batched.map((value, round) => value / single[round]);
  const reach = 0.98 / Math.sqrt(ratios.length);
  const [low, high] = [quantile(ratios, 0.5 - reach), quantile(ratios, 0.5 + reach)];
  return [
    row(`one user at a time, batchSize 1, median`, median(single), 'ms'),
    row(`one user at a time, batchSize ${INTERACTIVE.batchSize}, median`, median(batched), 'ms'),
    row(
      `one user at a time, batchSize ${INTERACTIVE.batchSize} over batchSize 1 (95 % of chance: ${low.toFixed(3)} to ${high.toFixed(3)})`,
      ratio,
      '×',
      '<= 1.02 ×, or 1 is within what chance explains',
      ratio <= 1.02 || low <= 1,
    ),
  ];
}

function pipelineRows(name, { width, height }, { preprocess, inference, alone, pipelined }) {
  const hidden = (round) =>
    (100 * (preprocess[round] + inference[round] - pipelined[round])) / Math.min(preprocess[round], inference[round]);
  const part = median(pipelined.map((_, round) => hidden(round)));
  const photo = `${name}, photo of ${width} × ${height}`;
  return [
    row(`${photo}, alone: preprocess`, median(preprocess), 'ms'),
    row(`${photo}, alone: inference`, median(inference), 'ms'),
    row(`${photo}, alone: from call to answer`, median(alone), 'ms'),
    row(`${photo}, pipelined: one in`, median(pipelined), 'ms'),
    row(`${photo}: of the shorter of preprocess and inference, hidden`, part, '%', '>= 80 %', part >= 80),
  ];
}
