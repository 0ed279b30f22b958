/**
 * The section on the first answer: from the call until a model has answered once, at the first visit and at later ones
 * on a visitor's line, beside ONNX Runtime alone in a worker.
 */
import { setTimeout } from 'node:timers/promises';
import { inProfile } from './lib/profile.mjs';
import { tell } from './lib/progress.mjs';
import { atMost, over, row } from './lib/rows.mjs';
import { median, pairs } from './lib/statistics.mjs';
import { waterfall } from './lib/waterfall.mjs';

/** Visits that are not measured: they fill the caches, the second one with compiled code. */
const WARM_UPS = 2;
const ROUNDS = { cold: 5, warm: 5 };
const QUICK_ROUNDS = { cold: 2, warm: 4 };
/**
 * After its start with a fresh profile, Chromium prepares its page for new tabs, on both cores. No visitor comes that
 * early.
 */
const STARTUP_MS = 2500;
/** A page is left open for so long after its answer: its files are stored meanwhile. */
const STORE_MS = 1000;
const GOAL = 1.1;
/** A visitor's line. */
export const LINE = { bitsPerSecond: 50e6, roundTrip: 40 };
const ON_LINE = `on a line of ${LINE.bitsPerSecond / 1e6} Mbit/s`;

const MODELS = [
  {
    name: 'digits',
    model: '/models/digits/',
    onnx: '/models/digits/digits.onnx',
    handler: undefined,
    dims: [1, 28, 28],
  },
  {
    name: 'MobileNetV2 1.0',
    model: '/made/mobilenet/onnx/model.onnx',
    onnx: '/made/mobilenet/onnx/model.onnx',
    handler: 'base_handler',
    dims: [3, 224, 224],
  },
];
/** What the app says about backends. If it says nothing, the browser is asked for GPUs first. */
const CHOICES = { "backends: ['wasm']": ['wasm'], 'backends not named': undefined };
/** How the app was built, by the path of its page. */
const PAGES = { "Vite's defaults": 'defaults/index.html', 'the Vite plugin': 'first/index.html' };

/**
 * @param {import('@playwright/test').BrowserType} chromium
 * @param {import('@playwright/test').LaunchOptions} options
 * @param {string} url of the benchmark's server behind the line
 * @param {{ isQuick: boolean }} mode
 */
export async function firstRows(chromium, options, url, { isQuick }) {
  const rounds = isQuick ? QUICK_ROUNDS : ROUNDS;
  const firstVisits = (contenders) =>
    inTurns(contenders, 0, rounds.cold, (work) =>
      inProfile(chromium, options, async (context) => {
        await setTimeout(STARTUP_MS);
        return await onPage(context, url, work);
      }),
    );
  const laterVisits = (contenders) =>
    inProfile(chromium, options, (context) =>
      inTurns(contenders, WARM_UPS, rounds.warm, (work) => onPage(context, url, work)),
    );
  const rows = [];
  for (const model of isQuick ? MODELS.slice(0, 1) : MODELS) {
    const contenders = contendersOf(model);
    const measure = async (what, visits) => {
      tell(`first answer: ${model.name}, ${what}`);
      rows.push(...rowsOf(model, what, await visits(contenders)));
    };
    await measure(`first visit ${ON_LINE}`, firstVisits);
    // One file is asked for at a time either way: there is nothing else to wait for.
    if (model.model.endsWith('/')) await measure(`later visit ${ON_LINE}`, laterVisits);
  }
  return rows;
}

function contendersOf({ model, onnx, handler, dims }) {
  const ours = Object.entries(PAGES).flatMap(([built, path]) =>
    Object.entries(CHOICES).map(([named, backends]) => [
      `${built}, ${named}`,
      { path, work: (call) => call('ours', { model, handler, backends, dims }) },
    ]),
  );
  return Object.fromEntries([['raw', { path: PAGES['the Vite plugin'], work: (call) => call('raw', onnx) }], ...ours]);
}

/** The contenders take turns, and each round starts with another one. */
async function inTurns(contenders, warmUps, rounds, visit) {
  const names = Object.keys(contenders);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUps; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + warmUps + turn) % names.length];
      const sample = await visit(contenders[name]);
      if (round >= 0) samples[name].push(sample);
    }
  return samples;
}

async function onPage(context, url, { path, work }) {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}${path}`);
  await page.waitForFunction(() => 'first' in globalThis);
  try {
    return await work((name, argument) =>
      page.evaluate(([name, argument]) => globalThis.first[name](argument), [name, argument]),
    );
  } finally {
    await setTimeout(STORE_MS);
    await page.close();
  }
}

function rowsOf({ name }, visit, { raw, ...ours }) {
  const taken = (samples) => samples.map(({ took }) => took);
  const what = `first answer: ${name}, ${visit}`;
  const rows = [row(`${what}, onnxruntime-web in a worker`, taken(raw), 'ms')];
  for (const [choice, samples] of Object.entries(ours)) {
    const times = taken(samples);
    const middle = samples.toSorted((a, b) => Math.abs(a.took - median(times)) - Math.abs(b.took - median(times)))[0];
    console.log(`\n${what}, TabServe, ${choice}: ${middle.took.toFixed(0)} ms`);
    for (const line of waterfall(middle.spans)) console.log(line);
    rows.push(
      row(`${what}, TabServe, ${choice}`, times, 'ms'),
      row(`${what}, TabServe over onnxruntime-web, ${choice}`, pairs(times, taken(raw), over), '×', atMost(GOAL, '×')),
    );
  }
  return rows;
}
