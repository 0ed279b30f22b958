/**
 * The part on speech: Whisper tiny.en beside transformers.js on the same files and the same recording, on WASM with one
 * thread and two. Both have a tab, and answer in turns. The first word of a live talk, and the memory after ten minutes of
 * sound, are ours alone. `npm run published:fetch` gets the weights.
 */
import { existsSync, readFileSync } from 'node:fs';
import { PUBLISHED } from './published.mjs';
import { residentMemory } from './lib/process-memory.mjs';
import { tell } from './lib/progress.mjs';
import { atLeast, over, row } from './lib/rows.mjs';
import { pairs } from './lib/statistics.mjs';

const MODEL = 'whisper-tiny.en';
const RECORDING = '/models/vad/samples/platform.wav';
const FILE = new URL('../public/models/vad/samples/platform.wav', import.meta.url);
/** Its words with their times, as Whisper has heard them. */
const WORDS = new URL('../demo/speech/recorded.json', import.meta.url);
const THREADS = [1, 2];
const ROUNDS = 4;
/** Seconds of sound, and of those after which the memory is measured first. */
const LONG = 600;
const WARM = 60;

/**
 * @param {(backend: 'wasm') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 */
export async function speechRows(launch, url) {
  if (!existsSync(`${PUBLISHED}/${MODEL}/onnx/encoder_model.onnx`)) {
    tell(`speech: ${MODEL} is skipped, because its weights are missing: npm run published:fetch`);
    return [];
  }
  const rows = [];
  for (const threads of THREADS) {
    const browser = await launch('wasm');
    try {
      const ours = await tab(browser, url, 'ours', threads);
      rows.push(...(await inTurns(browser, url, ours, threads)));
      if (threads === 1) rows.push(...(await alone(browser, ours)));
    } finally {
      await browser.close();
    }
  }
  return rows;
}

async function tab(browser, url, contender, threads) {
  const page = await (await browser.newContext()).newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}published/index.html`);
  await page.waitForFunction(() => 'published' in globalThis);
  const call = (work, ...given) =>
    page.evaluate(([work, given]) => globalThis.published[work](...given), [work, given]);
  await call('open', contender, { name: MODEL, kind: 'speech', dtype: 'fp32', threads, isCached: false });
  await call('transcribe', RECORDING);
  return { call, close: () => page.close() };
}

/** The time that a second of sound takes. */
async function inTurns(browser, url, ours, threads) {
  const theirs = await tab(browser, url, 'transformers', threads);
  const seconds = (readFileSync(FILE).length - 44) / 2 / 16_000;
  const found = { ours: [], theirs: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const name of round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']) {
      const { took, text } = await (name === 'ours' ? ours : theirs).call('transcribe', RECORDING);
      tell(`speech, ${threads} threads, ${name}: ${Math.round(took)} ms, ${text}`);
      found[name].push(took / 1000 / seconds);
    }
  await theirs.close();
  const label = `speech: ${MODEL} fp32, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  return [
    row(`${label}, TabServe: seconds for a second of sound`, found.ours, 's'),
    row(`${label}, transformers.js: seconds for a second of sound`, found.theirs, 's'),
    // A larger factor is faster.
    row(`${label}: real-time factor over transformers.js`, pairs(found.theirs, found.ours, over), '×', atLeast(1, '×')),
  ];
}

async function alone(browser, ours) {
  const label = `speech: ${MODEL} fp32, 1 thread, TabServe`;
  const [word] = JSON.parse(readFileSync(WORDS, 'utf8')).platform;
  const { shown, final } = await ours.call('live', RECORDING);
  const seconds = (readFileSync(FILE).length - 44) / 2 / 16_000;
  const devtools = await browser.newBrowserCDPSession();
  const memory = async () => Math.max(...Array.from((await residentMemory(devtools)).values(), rendererMemory)) / 1e6;
  let [heard, begin] = [0, 0];
  while (heard < LONG) {
    await ours.call('transcribe', RECORDING);
    heard += seconds;
    if (begin === 0 && heard >= WARM) begin = await memory();
  }
  const end = await memory();
  tell(`speech: memory ${Math.round(begin)} MB after ${WARM} s, ${Math.round(end)} MB after ${LONG} s`);
  return [
    row(`${label}: from the first word of a talk to its being shown`, shown - word.end, 's'),
    row(`${label}: from the first word of a talk to its being final`, final - word.end, 's'),
    row(`${label}: memory of the tab after a minute of sound`, begin, 'MB'),
    row(`${label}: memory of the tab after ten minutes, over that`, end / begin, '×'),
  ];
}

function rendererMemory({ type, now }) {
  return type === 'renderer' ? now : 0;
}
