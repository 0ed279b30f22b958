/**
 * The part on published models: real weights, beside transformers.js on the same files. Each contender opens a model in
 * a tab of its own, in turns, on WASM with one thread and two. `npm run published:fetch` gets the weights; a model
 * without them is skipped.
 */
import { existsSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { watchPeak } from './lib/process-memory.mjs';
import { inProfile } from './lib/profile.mjs';
import { tell } from './lib/progress.mjs';
import { atLeast, atMost, over, row } from './lib/rows.mjs';
import { median, pairs } from './lib/statistics.mjs';

/** The folder of the weights, in the layout of the Hub; the server has it as `/weights/`. */
export const PUBLISHED = fileURLToPath(new URL('../.cache/published/hub', import.meta.url));

const SMOL = { name: 'SmolLM2-135M-Instruct', kind: 'text', prompts: [16, 512], tokens: 97 };
const MODELS = [
  { ...SMOL, dtype: 'fp32', files: ['model'], rounds: 1 },
  { ...SMOL, dtype: 'q8', files: ['model_quantized'], rounds: 1 },
  {
    name: 'whisper-tiny.en',
    kind: 'speech',
    dtype: 'fp32',
    files: ['encoder_model', 'decoder_model_merged'],
    rounds: 3,
  },
  { name: 'all-MiniLM-L6-v2', kind: 'vector', dtype: 'fp32', files: ['model'], prompts: [16, 250], rounds: 2 },
];
/** A model of 89 MB with random weights: no package has those of a model that reads pictures. */
const PHOTO = { name: 'llava-random', warmUps: 2, rounds: 8 };
const RECORDING = '/models/vad/samples/platform.wav';
const THREADS = [1, 2];
/** Tokens of the answers of a conversation. */
const TALK = 16;
const CROWD = { answers: 4, tokens: 24, rounds: 3 };
const NAMES = { ours: 'TabServe', transformers: 'transformers.js' };
/** How often each contender opens a model. */
const VISITS = 3;
/** How often each contender writes the answers by which tokens a second are told. */
const RATES = 5;
/** After its start with a fresh profile, Chromium prepares its page for new tabs, on both cores. */
const STARTUP_MS = 2500;
/** A page is left open for so long after a model was opened: its files are stored meanwhile. */
const STORE_MS = 4000;
/** The first words of prompts, a token each. */
const FIRST = [
  'One',
  'Two',
  'Three',
  'Four',
  'Five',
  'Six',
  'Seven',
  'Eight',
  'Red',
  'Blue',
  'Green',
  'Black',
  'White',
  'New',
  'Old',
  'Long',
  'Good',
  'Great',
  'Big',
  'Small',
  'High',
  'First',
];

/**
 * @param {import('@playwright/test').BrowserType} chromium
 * @param {import('@playwright/test').LaunchOptions} launchOptions
 * @param {string} url of the benchmark's server
 */
export async function publishedRows(chromium, launchOptions, url) {
  const browser = await chromium.launch(launchOptions);
  const inFreshProfile = (work) => inProfile(chromium, launchOptions, work);
  try {
    const rows = [];
    for (const model of MODELS) {
      const paths = model.files.map((file) => `${PUBLISHED}/${model.name}/onnx/${file}.onnx`);
      if (!paths.every((path) => existsSync(path))) {
        tell(`published: ${model.name} is skipped, because its weights are missing: npm run published:fetch`);
        continue;
      }
      const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
      for (const threads of THREADS) {
        rows.push(...(await modelRows({ browser, inFreshProfile, url }, model, threads, bytes)));
        // With 8 bits, each request runs alone, and each prompt as a whole.
        if (model.name === SMOL.name && model.dtype === 'fp32') rows.push(...(await turnRows(browser, url, threads)));
      }
    }
    if (!existsSync(`${PUBLISHED}/${PHOTO.name}/onnx/vision_encoder.onnx`))
      tell(`published: ${PHOTO.name} is skipped, because it was not made: npm run published:fetch`);
    else rows.push(...(await photoRows(browser, url)));
    return rows;
  } finally {
    await browser.close();
  }
}

/** From a photo of 1280 × 960 and a question to the first token, with one thread. */
async function photoRows(browser, url) {
  const label = "published: a photo's first token";
  const { times, texts } = await onPage(browser, url, (call) => call('firstOfPhoto', PHOTO));
  tell(`${label}: ${JSON.stringify(texts)}`);
  return [
    row(`${label}, TabServe`, times.ours, 'ms'),
    row(`${label}, a loop by hand`, times.byHand, 'ms'),
    row(`${label}, over a loop by hand`, pairs(times.ours, times.byHand, over), '×', atMost(1.1, '×')),
  ];
}

async function modelRows({ browser, inFreshProfile, url }, model, threads, bytes) {
  const label = `published: ${model.name} ${model.dtype}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  const found = { ours: [], transformers: [] };
  for (let round = 0; round < VISITS; round++)
    for (const name of round % 2 === 0 ? ['ours', 'transformers'] : ['transformers', 'ours']) {
      const visited = {
        ...(await inFreshProfile((context) => visitTwice(context, url, name, { ...model, threads }))),
        ...(await visit(browser, url, name, { ...model, threads, isAsked: round < model.rounds })),
      };
      tell(`${label}, ${name}: ${JSON.stringify(visited)}`);
      found[name].push(visited);
    }
  const values = (name, key) => found[name].flatMap((one) => one[key] ?? []);
  const compared = (what, key, goal) =>
    row(
      `${label}: ${what} over transformers.js`,
      pairs(values('ours', key), values('transformers', key), over),
      '×',
      goal,
    );
  const shown = (what, key, unit) =>
    Object.keys(NAMES).map((name) => row(`${label}, ${NAMES[name]}: ${what}`, values(name, key), unit));
  const loads = Object.keys(found.ours[0]).filter((key) => key.startsWith('load'));
  const firsts = Object.keys(found.ours[0]).filter((key) => key.startsWith('first'));
  const rates = Object.keys(found.ours[0]).filter((key) => key.startsWith('tokens a second'));
  const peak = median(values('ours', 'peak'));
  return [
    ...loads.flatMap((key) => shown(key, key, 'ms')),
    ...firsts.flatMap((key) => shown(key, key, 'ms')),
    ...rates.flatMap((key) => shown(key, key, 'tokens/s')),
    ...shown('peak memory while it opens', 'opening', 'MB'),
    ...shown('peak memory', 'peak', 'MB'),
    ...loads.map((key) => compared(key, key, atMost(1, '×'))),
    ...firsts.map((key) => compared(key, key, atMost(1, '×'))),
    ...rates.map((key) => compared(key, key, atLeast(1, '×'))),
    compared('peak memory', 'peak', atMost(0.8, '×')),
    row(
      `${label}: peak memory over the files`,
      (peak * 1e6) / bytes,
      '×',
      model.name === SMOL.name && model.dtype === 'fp32' ? atMost(2.2, '×') : undefined,
    ),
    ...(threads === 1 ? [estimateRow(label, found.ours)] : []),
  ];
}

/** The turns of a conversation, and several answers at once: TabServe alone. */
async function turnRows(browser, url, threads) {
  const options = { name: SMOL.name, dtype: 'fp32', threads };
  const label = `published: ${SMOL.name} fp32, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  const { again, first } = await onPage(browser, url, (call) => call('talk', options, TALK));
  const rounds = await onPage(browser, url, (call) => call('crowd', options, CROWD));
  tell(`${label}: ${JSON.stringify({ again, first, rounds })}`);
  return [
    row(
      `${label}: tokens that ran again in ${first.length} turns of a conversation`,
      again,
      'tokens',
      atMost(0, 'tokens'),
    ),
    row(`${label}: first token of the first turn`, first[0], 'ms'),
    row(`${label}: first token of turn ${first.length}`, first.at(-1), 'ms'),
    row(
      `${label}: ${CROWD.answers} answers at once, over one`,
      rounds.map(({ one, several }) => several / one),
      '×',
      atLeast(1.8, '×'),
    ),
  ];
}

/** Calls functions of the page in a fresh private window. */
async function onPage(browser, url, ask) {
  const context = await browser.newContext();
  try {
    return await inTab(context, url, ask);
  } finally {
    await context.close();
  }
}

/** Calls functions of the page in a fresh tab. */
async function inTab(context, url, ask) {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(error));
  try {
    await page.goto(`${url}published/index.html`);
    await page.waitForFunction(() => 'published' in globalThis);
    return await ask((work, ...given) =>
      page.evaluate(([work, given]) => globalThis.published[work](...given), [work, given]),
    );
  } finally {
    await page.close();
  }
}

/** What `assess` says before the download, over the peak while the model was opened. */
function estimateRow(label, visits) {
  const ratio = visits[0].estimate / median(visits.map(({ opening }) => opening));
  const goal = { text: '0.75 to 1.25 ×', holds: (value) => value >= 0.75 && value <= 1.25 };
  return row(`${label}: memory by assess over the peak of opening`, ratio, '×', goal);
}

/**
 * Opens a model in one tab after the other, in a fresh profile, where the contender caches files as it does by default.
 * Times in milliseconds.
 */
async function visitTwice(context, url, contender, { name, kind, dtype, threads }) {
  const open = () =>
    inTab(context, url, async (call) => {
      const took = await call('open', contender, { name, kind, dtype, threads, isCached: true });
      await setTimeout(STORE_MS);
      return took;
    });
  await setTimeout(STARTUP_MS);
  return { 'load, first visit': await open(), 'load, later visit': await open() };
}

/**
 * Opens a model in a fresh private window, without caches, and asks it, if it is to be asked. Times in milliseconds,
 * memory in MB.
 */
async function visit(browser, url, contender, { name, kind, dtype, threads, prompts, tokens, isAsked }) {
  return await onPage(browser, url, async (call) => {
    const options = { name, kind, dtype, threads, isCached: false };
    const devtools = await browser.newBrowserCDPSession();
    const found = {};
    const rise = await watchPeak(devtools);
    found['load, uncached'] = await call('open', contender, options);
    found.opening = (await rise()).tab / 1e6;
    if (!isAsked) {
      await devtools.detach();
      return found;
    }
    if (kind === 'speech') {
      found['first token'] = (await call('transcribe', RECORDING, 1)).took;
      Object.assign(found, rename(await call('transcribe', RECORDING), 'first text'));
    }
    for (const [at, size] of (prompts ?? []).entries())
      Object.assign(
        found,
        rename(await call('answer', FIRST[at], size, tokens && 1), `first ${tokens ? 'token' : 'vector'} of ${size}`),
      );
    let at = prompts?.length;
    const rates = async () => {
      for (const size of prompts) {
        const first = await call('answer', FIRST[at++], size, 1);
        const all = await call('answer', FIRST[at++], size, tokens);
        (found[`tokens a second behind ${size}`] ??= []).push(((tokens - 1) * 1000) / (all.took - first.took));
        found.text = all.text;
      }
    };
    if (tokens) await rates();
    // Of a few answers: ours keeps their prompts for the next ones, up to `maxStateBytes`.
    found.peak = (await rise()).tab / 1e6;
    if (tokens) for (let time = 1; time < RATES; time++) await rates();
    await devtools.detach();
    const estimate = contender === 'ours' ? (await call('estimate', options)) / 1e6 : undefined;
    return { ...found, estimate };
  });
}

function rename({ took, text }, name) {
  return { [name]: took, text };
}
