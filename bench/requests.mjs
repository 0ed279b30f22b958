/**
 * The section on requests: one model, on a ready tensor and from a file, by TabServe and by what one has without it.
 */
import { mkdirSync, copyFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeMobileNet } from './lib/mobilenet.mjs';
import { tell } from './lib/progress.mjs';
import { atLeast, atMost, minus, over, row } from './lib/rows.mjs';
import { median, pairs, quantile } from './lib/statistics.mjs';
import { CATEGORIES, longestTasks } from './lib/trace.mjs';

const SMALL = { name: '640×480', width: 640, height: 480 };
const LARGE = { name: '12 MP', width: 4000, height: 3000 };
/**
 * `openings`: one instance of ONNX Runtime computes up to a tenth slower than another of the same page, and keeps at
 * it: what is compared is opened anew so many times. `rounds` of each opening; `fileRounds` and `tracedRounds` of each
 * size of photo.
 */
const FULL = {
  models: [
    { name: 'MobileNetV2 1.0', folder: 'made/mobilenet', sizes: [SMALL], tracedSizes: [] },
    { name: 'MobileNetV2 1.4', folder: 'model', sizes: [SMALL, LARGE], tracedSizes: [LARGE] },
  ],
  openings: 3,
  rounds: 7,
  fileRounds: 7,
  pausedRounds: 6,
  tracedRounds: 3,
  photoRounds: 2,
};
const QUICK = {
  ...FULL,
  models: [{ name: 'MobileNetV2 1.0', folder: 'made/mobilenet', sizes: [SMALL], tracedSizes: [] }],
  fileRounds: 8,
  pausedRounds: 0,
};
/** As many photos as a batch has. */
const PHOTOS = 8;
/** Until the compilers have done what they will: a steady request is what is compared. */
const [WARM_UPS, TENSOR_WARM_UPS] = [3, 8];

const NAMES = {
  raw: 'raw InferenceSession.run, tensor',
  oursTensor: 'TabServe predict, tensor',
  handWritten: 'hand-written canvas path, file',
  transformers: 'transformers.js pipeline, file',
  oursFile: 'TabServe predict, file',
};
const STAGES = ['preprocess', 'inference', 'postprocess'];

/** Writes the model whose weights mean nothing into a folder, in the layout that transformers.js loads. */
export async function writeRequestModels(folder) {
  const own = join(folder, 'mobilenet');
  mkdirSync(join(own, 'onnx'), { recursive: true });
  await writeMobileNet(join(own, 'onnx/model.onnx'), 5);
  for (const file of ['config.json', 'preprocessor_config.json'])
    copyFileSync(fileURLToPath(new URL(`model/${file}`, import.meta.url)), join(own, file));
}

/**
 * @param {(backend: 'wasm') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 * @param {{ isQuick: boolean, versions: object }} mode `versions`: filled in with those of what the page has loaded
 */
export async function requestRows(launch, url, { isQuick, versions }) {
  const settings = isQuick ? QUICK : FULL;
  const rows = [];
  const browser = await launch('wasm');
  try {
    for (const model of settings.models) {
      const open = () => openPage(browser, `${url}?model=${model.folder}`);
      Object.assign(versions, await checkedVersions(open, versions.onnxruntimeWeb));
      const tensor = await measureTensor(open, model, settings);
      rows.push(...overheadRows(model, tensor, settings));
      for (const size of model.sizes)
        rows.push(...fileRows(model, size, tensor, await measureFile(open, model, size, settings)));
    }
    return rows;
  } finally {
    await browser.close();
  }
}

async function openPage(browser, url) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(url);
  return page;
}

/** Returns the versions of what the page has loaded. @throws if they are not to be compared, or not to be measured */
async function checkedVersions(open, ours) {
  const page = await open();
  const { raw, ...others } = await page.evaluate(() => globalThis.bench.then(({ versions }) => versions));
  if (raw !== ours) throw new Error(`The raw run is to use our onnxruntime-web ${ours}, not ${raw}.`);
  const isolated = await page.evaluate(() => globalThis.crossOriginIsolated);
  if (!isolated) throw new Error('The page is not cross-origin isolated: its clock would be too coarse.');
  await page.close();
  return others;
}

function makePhoto(page, { width, height }) {
  return page.evaluate(async ([width, height]) => (await globalThis.bench).makePhoto(width, height), [width, height]);
}

function time(page, what, options) {
  return page.evaluate(async ([what, options]) => (await globalThis.bench).time(what, options), [what, options]);
}

/** What runs on a ready tensor: the rounds of all openings. */
async function measureTensor(open, { name }, { openings, rounds }) {
  const samples = { times: {}, stages: {}, answers: {} };
  for (let opening = 0; opening < openings; opening++) {
    tell(`requests: ${name}, from a tensor, opening ${opening + 1} of ${openings}`);
    const page = await open();
    await makePhoto(page, SMALL);
    const { times, stages, answers } = await time(page, 'tensor', { rounds, warmUps: TENSOR_WARM_UPS, paused: false });
    for (const [lists, more] of [
      [samples.times, times],
      [samples.stages, stages],
    ])
      for (const [key, list] of Object.entries(more)) (lists[key] ??= []).push(...list);
    samples.answers = answers;
    await page.close();
  }
  return samples;
}

/**
 * What starts from a file; and, unless that is skipped, what runs on a tensor after pauses, and the longest tasks of
 * the page's main thread.
 */
async function measureFile(open, { name, tracedSizes }, size, { fileRounds, pausedRounds, tracedRounds, photoRounds }) {
  tell(`requests: ${name}, from a file, ${size.name}`);
  const page = await open();
  await makePhoto(page, size);
  const file = await time(page, 'file', { rounds: fileRounds, warmUps: WARM_UPS, paused: true });
  const paused =
    pausedRounds > 0 && size === LARGE
      ? await time(page, 'tensor', { rounds: pausedRounds, warmUps: TENSOR_WARM_UPS, paused: true })
      : undefined;
  const photos =
    size === LARGE
      ? await page.evaluate(
          async ([count, rounds]) => (await globalThis.bench).photos(count, rounds),
          [PHOTOS, photoRounds],
        )
      : undefined;
  const tasks = tracedSizes.includes(size) ? await traceTasks(page, tracedRounds) : undefined;
  await page.close();
  return { file, paused, photos, tasks };
}

/**
 * Tracing costs time: what is traced is not timed. Nor does it run in turns: one's garbage would be collected in
 * another's time.
 */
async function traceTasks(page, rounds) {
  const devtools = await page.context().newCDPSession(page);
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: CATEGORIES });
  for (const contender of [...Object.keys(NAMES), 'idle']) {
    await devtools.send('HeapProfiler.collectGarbage');
    await page.evaluate(async ([name, rounds]) => (await globalThis.bench).mark(name, rounds), [contender, rounds]);
  }
  return longestTasks((await browser.stopTracing()).toString());
}

function overheadRows({ name: model }, { times, stages, answers }, { openings, rounds }) {
  const add = (name, values, unit, goal) => row(`${model}: ${name}`, values, unit, goal);
  const allowed = Math.max(0.5, 0.03 * median(times.raw));
  const overhead = atMost(allowed, 'ms', `<= 0.5 ms or 3 % of the raw run (here ${allowed.toFixed(2)} ms)`);
  const byOpening = Array.from({ length: openings }, (_, index) => {
    const own = (list) => list.slice(index * rounds, (index + 1) * rounds);
    return median(pairs(own(times.oursTensor), own(times.raw), minus));
  });
  const inference = stages.oursTensor.map((one) => one.inference);
  return [
    add('our overhead over the raw run, by opening', byOpening, 'ms', overhead),
    add(
      'our overhead over the inference in the same worker',
      pairs(times.oursTensor, inference, minus),
      'ms',
      overhead,
    ),
    add(
      'predict over a bare comlink call of the same worker',
      pairs(times.oursTensor, times.bareCall, over),
      '×',
      atMost(1.02, '×'),
    ),
    add(
      "our answer on the tensor less the raw run's",
      difference(answers.oursTensor, answers.raw),
      'probability',
      atMost(1e-5, '', '<= 0.00001'),
    ),
    add(NAMES.raw, times.raw, 'ms'),
    add(`${NAMES.raw}, 95th percentile`, quantile(times.raw, 0.95), 'ms'),
    add(NAMES.oursTensor, times.oursTensor, 'ms'),
    add(`${NAMES.oursTensor}, 95th percentile`, quantile(times.oursTensor, 0.95), 'ms'),
    add('the raw run in a plain worker', times.plainWorker, 'ms'),
    add('our overhead over the raw run in a plain worker', pairs(times.oursTensor, times.plainWorker, minus), 'ms'),
    ...stageRows(add, 'oursTensor', times.oursTensor, stages.oursTensor),
  ];
}

function fileRows({ name: model }, size, { answers: tensorAnswers }, { file, paused, photos, tasks }) {
  const add = (name, values, unit, goal) => row(`${model}, ${size.name}: ${name}`, values, unit, goal);
  const { times, stages } = file;
  const answers = { ...tensorAnswers, ...file.answers };
  // Asked for at 12 megapixels; told at both.
  const ratio = (name, other, limit) =>
    add(name, pairs(times.oursFile, times[other], over), '×', size === LARGE ? atMost(limit, '×') : undefined);
  const rows = [
    ratio('our time from the file over the hand-written path', 'handWritten', 1),
    ratio("our time from the file over transformers.js's", 'transformers', 0.5),
    add("the limit: the browser's decoder and a copy of its pixels, alone", times.browserDecode, 'ms'),
  ];
  for (const [key, name] of Object.entries(NAMES)) {
    if (times[key])
      rows.push(add(name, times[key], 'ms'), add(`${name}, 95th percentile`, quantile(times[key], 0.95), 'ms'));
    for (const [label, probability] of Object.entries(answers[key] ?? {}))
      rows.push(add(`${name}, answer "${label}"`, probability, 'probability'));
  }
  rows.push(...stageRows(add, 'oursFile', times.oursFile, stages.oursFile));
  if (photos) rows.push(...photoRows(add, photos));
  if (paused) rows.push(...pausedRows(add, paused.times));
  if (tasks) rows.push(...taskRows(add, tasks));
  return rows;
}

function stageRows(add, key, times, stages) {
  const outside = times.map((whole, at) => whole - STAGES.reduce((sum, stage) => sum + (stages[at][stage] ?? 0), 0));
  return [
    ...STAGES.map((stage) => {
      const own = stages.map((one) => one[stage] ?? 0);
      return add(`${NAMES[key]}, stage ${stage}`, own, 'ms');
    }),
    add(`${NAMES[key]}, outside the stages (the round trip)`, outside, 'ms'),
  ];
}

/** Decoding has a thread for each photo; the rest of preprocessing is one thread's. */
function photoRows(add, { together, singly }) {
  const cores = availableParallelism();
  return [
    add(`${PHOTOS} photos one by one: preprocessing`, singly, 'ms'),
    add(`${PHOTOS} photos in one batch: preprocessing`, together, 'ms'),
    add(
      `${PHOTOS} photos, one by one over in one batch, on ${cores} cores`,
      pairs(singly, together, over),
      '×',
      cores >= 4 ? atLeast(2.5, '×') : undefined,
    ),
  ];
}

function pausedRows(add, { raw, oursTensor, plainWorker }) {
  return [
    add('after pauses: raw InferenceSession.run, tensor', raw, 'ms'),
    add('after pauses: TabServe predict, tensor', oursTensor, 'ms'),
    add('after pauses: the raw run in a plain worker', plainWorker, 'ms'),
    add('after pauses: our overhead over the raw run', pairs(oursTensor, raw, minus), 'ms'),
    add('after pauses: our overhead over the raw run in a plain worker', pairs(oursTensor, plainWorker, minus), 'ms'),
  ];
}

function taskRows(add, tasks) {
  return [...Object.keys(NAMES), 'idle'].flatMap((key) => {
    const goal = key.startsWith('ours') ? atMost(10, 'ms') : undefined;
    const longest = (clock) => Math.max(...tasks[key].map((task) => task[clock]));
    const name = NAMES[key] ?? key;
    return [
      add(`longest main-thread task, ${name}`, longest('wall'), 'ms', goal),
      add(`longest main-thread task in the thread's own time, ${name}`, longest('cpu'), 'ms'),
    ];
  });
}

function difference(answer, other) {
  return Math.max(...Object.entries(other).map(([label, probability]) => Math.abs(probability - answer[label])));
}
