/**
 * The section on loading: what TabServe adds to reading a file and creating a session from it, in time and in memory.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeLargeModel } from './lib/large-model.mjs';
import { peakRise } from './lib/process-memory.mjs';
import { inProfile } from './lib/profile.mjs';
import { tell } from './lib/progress.mjs';
import { atMost, over, row as rowOf } from './lib/rows.mjs';
import { median, pairs } from './lib/statistics.mjs';

/** Rounds to measure, after one that fills caches and lets the browser keep compiled code. */
const ROUNDS = 3;
const WARM_UPS = 1;
const MEMORY_ROUNDS = 2;
/** 24 layers of 4.2 MB each: 100.7 MB. */
const LARGE = { layers: 24, width: 1024 };
const TINY = { layers: 1, width: 8 };

/**
 * Whose workers are opened one after another; `model`: another one than the digits; `raw`: the model's file for workers
 * by hand, which show what no two workers can share; `build`: that of browsers without JSPI. A GPU in software is slow:
 * it has few rounds, and only with `--only loading`.
 */
const ENGINES = [
  { name: 'onnx/wasm', candidate: 'onnx/wasm', backend: 'wasm', raw: '/models/digits/digits.onnx', rounds: ROUNDS },
  {
    name: 'onnx/wasm, 4.6 MB',
    candidate: 'onnx/wasm',
    backend: 'wasm',
    model: '/model/onnx/model.onnx',
    raw: '/model/onnx/model.onnx',
    rounds: ROUNDS,
  },
  { name: 'tfjs/wasm', candidate: 'tfjs/wasm', backend: 'wasm', raw: '/models/digits/model.json', rounds: ROUNDS },
  { name: 'onnx/webgpu with JSPI', candidate: 'onnx/webgpu', backend: 'webgpu', rounds: 2 },
  { name: 'onnx/webgpu without JSPI', candidate: 'onnx/webgpu', backend: 'webgpu', build: 'asyncify', rounds: 2 },
];
/** The goal for later workers, as a part of the first one's time. */
const LATER = 0.4;

/** The files, by the folder that they are served under; the weights of `external` are a file of their own. */
const MODELS = { tiny: TINY, large: LARGE, external: LARGE };

/**
 * @param {import('@playwright/test').BrowserType} chromium
 * @param {(backend: 'wasm' | 'webgpu') => import('@playwright/test').LaunchOptions} options
 * @param {string} url of the benchmark's server
 * @param {{ isAlone: boolean }} mode `isAlone`: whether no other part is measured
 */
export async function loadingRows(chromium, options, url, { isAlone }) {
  const rows = await inProfile(chromium, options('wasm'), async (context) => {
    const visit = (work) => onPage(context, url, work);
    const small = { name: '4.6 MB', url: `${url}model/onnx/model.onnx` };
    const large = { name: '101 MB', url: `${url}made/large/model.onnx` };
    const rows = [];
    // First, because the first visit to the large model is part of it.
    if (process.platform === 'linux') rows.push(...memoryRows(await measureMemory(context, visit, url)));
    for (const model of [small, large]) rows.push(...timeRows(model, await measureTimes(visit, model)));
    return rows;
  });
  for (const engine of ENGINES.filter(({ backend }) => isAlone || backend === 'wasm')) {
    const measure = (work) =>
      inProfile(chromium, options(engine.backend), (context) => work((visit) => onPage(context, url, visit), engine));
    const raw = engine.raw && rawRows(engine, await measure(measureRawWorkers));
    rows.push(...(raw ?? []), ...workerRows(engine, await measure(measureWorkers), raw?.at(-1).value));
  }
  return rows;
}

/** Writes the models, whose weights are many and mean nothing, into a folder. */
export async function writeModels(folder) {
  for (const [name, { layers, width }] of Object.entries(MODELS)) {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    await writeLargeModel(own, { layers, width, isExternal: name === 'external' });
  }
}

/** Does something in a fresh page, which has a process of its own. */
async function onPage(context, url, work) {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}loading/index.html`);
  await page.waitForFunction(() => 'loading' in globalThis);
  try {
    return await work((name, argument) =>
      page.evaluate(([name, argument]) => globalThis.loading[name](argument), [name, argument]),
    );
  } finally {
    await page.close();
  }
}

/** The contenders take turns; each of them has the page for itself. */
async function measureTimes(visit, { name, url }) {
  tell(`loading: ${name}`);
  const contenders = {
    ours: (call) => call('ours', url),
    cacheApi: (call) => call('raw', { url, source: 'cache-api' }),
    http: (call) => call('raw', { url, source: 'http' }),
  };
  const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  await visit((call) => call('store', url));
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    for (let turn = 0; turn < 3; turn++) {
      const [name, work] = Object.entries(contenders)[(round + WARM_UPS + turn) % 3];
      const sample = await visit(work);
      if (round >= 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** Five workers of a fresh page, and the replacement of a lost one, in each round. */
async function measureWorkers(visit, { name, candidate, model, build, rounds }) {
  tell(`loading: workers of ${name}`);
  const measured = [];
  for (let round = -WARM_UPS; round < rounds; round++) {
    const times = await visit((call) => call('workers', { candidate, model, build }));
    if (round >= 0) measured.push(times);
  }
  return measured;
}

/** Five workers of a fresh page without TabServe, in each round. */
async function measureRawWorkers(visit, { name, candidate, raw, rounds }) {
  tell(`loading: workers of ${name}, by hand`);
  const measured = [];
  for (let round = -WARM_UPS; round < rounds; round++) {
    const times = await visit((call) => call('rawWorkers', { engine: candidate.split('/')[0], model: raw }));
    if (round >= 0) measured.push(times);
  }
  return measured;
}

/** The rise of the peak in each case, in bytes. Each case is measured several times, and has another one in between. */
async function measureMemory(context, visit, url) {
  tell('loading: memory');
  const devtools = await context.browser().newBrowserCDPSession();
  const peaks = {};
  const measure = async (key, name, argument) => {
    const peak = await visit((call) => peakRise(devtools, () => call(name, argument)));
    (peaks[key] ??= []).push(peak);
  };
  const model = (name) => `${url}made/${name}/model.onnx`;
  const weights = `${url}made/external/weights.bin`;
  // The engine's files are cached, and its code is compiled.
  for (const name of ['tiny', 'tiny']) await visit((call) => call('ours', model(name)));
  await visit((call) => call('raw', { url: model('tiny'), source: 'http' }));
  await measure('firstVisit', 'ours', model('large'));
  await measure('firstVisitExternal', 'ours', model('external'));
  for (let round = 0; round < MEMORY_ROUNDS; round++) {
    await measure('oursTiny', 'ours', model('tiny'));
    await measure('rawTiny', 'raw', { url: model('tiny'), source: 'http' });
    await measure('ours', 'ours', model('large'));
    await measure('raw', 'raw', { url: model('large'), source: 'http' });
    await measure('oursExternal', 'ours', model('external'));
    await measure('rawExternal', 'raw', { url: model('external'), weights, source: 'http' });
  }
  const bytes = LARGE.layers * LARGE.width ** 2 * 4;
  const above = (key, baseline) =>
    (median(peaks[key].map(({ renderers }) => renderers)) - median(peaks[baseline].map(({ renderers }) => renderers))) /
    bytes;
  return {
    firstVisit: above('firstVisit', 'oursTiny'),
    firstVisitExternal: above('firstVisitExternal', 'oursTiny'),
    ours: above('ours', 'oursTiny'),
    oursExternal: above('oursExternal', 'oursTiny'),
    raw: above('raw', 'rawTiny'),
    rawExternal: above('rawExternal', 'rawTiny'),
    others: peaks.firstVisit[0].others / bytes,
  };
}

function row(name, values, unit, goal) {
  return rowOf(`loading: ${name}`, values, unit, goal);
}

function timeRows({ name }, { ours, cacheApi, http }) {
  const taken = (samples) => samples.map(({ took }) => took);
  const compared = (other, goal) => [pairs(taken(ours), taken(other), over), '×', goal];
  return [
    row(`${name}, TabServe load from the cache`, taken(ours), 'ms'),
    row(`${name}, raw worker from the Cache API`, taken(cacheApi), 'ms'),
    row(
      `${name}, raw worker from the Cache API: reading`,
      cacheApi.map(({ read }) => read),
      'ms',
    ),
    row(
      `${name}, raw worker from the Cache API: InferenceSession.create`,
      cacheApi.map(({ create }) => create),
      'ms',
    ),
    row(`${name}, raw worker from the HTTP cache`, taken(http), 'ms'),
    row(`${name}, TabServe from the cache over the raw worker from the HTTP cache`, ...compared(http)),
    row(
      `${name}, TabServe from the cache over the raw worker from the Cache API`,
      ...compared(cacheApi, atMost(1.1, '×')),
    ),
  ];
}

/**
 * @param byHand the time of a later worker by hand over that of its first: what the engine's build allows. 0 if it was
 *   not measured
 */
function workerRows({ name }, rounds, byHand = 0) {
  const first = rounds.map(({ opened }) => opened[0]);
  const later = rounds.map(({ opened }) => median(opened.slice(1)));
  const healed = rounds.map(({ healed }) => healed);
  const allowed = Math.max(LATER, byHand);
  const goal = atMost(
    allowed,
    '×',
    allowed > LATER ? `<= ${LATER} ×, or what a worker by hand takes (${allowed} ×)` : undefined,
  );
  const overFirst = (what, times) => row(`${name}, ${what} over the first`, pairs(times, first, over), '×', goal);
  return [
    row(`${name}, the first worker of a page, from the cache`, first, 'ms'),
    row(`${name}, workers two to five`, later, 'ms'),
    row(`${name}, replacing a lost worker`, healed, 'ms'),
    overFirst('workers two to five', later),
    overFirst('replacing a lost worker', healed),
  ];
}

/** What no two workers can share, for comparison: the rows have no goal. */
function rawRows({ name }, rounds) {
  const first = rounds.map(([one]) => one);
  const later = rounds.map(([, ...others]) => median(others));
  return [
    row(`${name}, raw: the first worker of a page`, first, 'ms'),
    row(`${name}, raw: workers two to five, with the compiled .wasm of the first`, later, 'ms'),
    row(`${name}, raw: workers two to five over the first`, pairs(later, first, over), '×'),
  ];
}

function memoryRows(peaks) {
  const goal = (name, key) => row(`peak memory, ${name}`, peaks[key], '× model', atMost(2, '× model'));
  return [
    row('peak memory, raw: fetch, arrayBuffer, InferenceSession.create', peaks.raw, '× model'),
    row('peak memory, raw, external data', peaks.rawExternal, '× model'),
    row('peak memory, TabServe from the cache over raw', peaks.ours / peaks.raw, '×'),
    row("peak memory of the browser's other processes, TabServe, first visit", peaks.others, '× model'),
    goal('TabServe, first visit', 'firstVisit'),
    goal('TabServe, from the cache', 'ours'),
    goal('TabServe, first visit, external data', 'firstVisitExternal'),
    goal('TabServe, from the cache, external data', 'oursExternal'),
  ];
}
