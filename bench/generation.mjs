/**
 * The part on generation: tokens of a language model of 44 MB with random weights, by TabServe, by transformers.js and
 * by a loop written by hand, on one thread of WASM.
 */
import { tell } from './lib/progress.mjs';
import { atLeast, atMost, over, row } from './lib/rows.mjs';
import { pairs } from './lib/statistics.mjs';

/** How the models attend: see `writeLanguageModel`. */
export const ATTENTIONS = ['fused', 'plain'];
const PROMPTS = [16, 512];
const TURNS = { tokens: 33, warmUps: 2, rounds: 8 };
const CROWD = { answers: 4, tokens: 32, warmUps: 1, rounds: 5 };
/** On the software adapter. */
const WEBGPU = { promptTokens: 16, tokens: 9, warmUps: 1, rounds: 4 };
const CONVERSATIONS = 20;
const NAMES = { ours: 'TabServe', transformers: 'transformers.js', byHand: 'a loop by hand' };

/**
 * @param {(backend: 'wasm' | 'webgpu') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 */
export async function generationRows(launch, url) {
  return [...(await wasmRows(launch, url)), ...(await webgpuRows(launch, url))];
}

async function webgpuRows(launch, url) {
  const browser = await launch('webgpu');
  try {
    const options = { model: 'made/language-model-plain', backend: 'webgpu', ...WEBGPU };
    const measured = await onPage(browser, url, 'measure', options);
    return turnRows('generation, WebGPU in software, 16 tokens', measured);
  } finally {
    await browser.close();
  }
}

async function wasmRows(launch, url) {
  const browser = await launch('wasm');
  const measure = async (work, attention, options) =>
    await onPage(browser, url, work, { model: `made/language-model-${attention}`, ...options });
  try {
    const rows = [];
    for (const attention of ATTENTIONS) {
      const name = `generation, ${attention} attention`;
      for (const promptTokens of PROMPTS)
        rows.push(
          ...turnRows(
            `${name}, ${promptTokens} tokens`,
            await measure('measure', attention, { backend: 'wasm', promptTokens, ...TURNS }),
          ),
        );
      const { one, several } = await measure('measureCrowd', attention, CROWD);
      rows.push(
        row(`${name}: one answer alone`, one, 'tokens/s'),
        row(`${name}: ${CROWD.answers} answers at once, over one`, pairs(several, one, over), '×', atLeast(2, '×')),
      );
    }
    const memory = await measure('measureMemory', 'fused', { conversations: CONVERSATIONS });
    const name = `generation: the engine's memory after ${CONVERSATIONS} conversations`;
    rows.push(row(name, memory.at(-1), 'MB'), row(`${name}, over the first one`, memory.at(-1) / memory[0], '×'));
    return rows;
  } finally {
    await browser.close();
  }
}

function turnRows(prompt, { first, token }) {
  const rate = (times) => times.map((time) => 1000 / time);
  return [
    ...Object.keys(NAMES).flatMap((name) => [
      row(`${prompt}, ${NAMES[name]}: to the first token`, first[name], 'ms'),
      row(`${prompt}, ${NAMES[name]}: behind it`, rate(token[name]), 'tokens/s'),
    ]),
    row(`${prompt}: to the first token, over transformers.js`, pairs(first.ours, first.transformers, over), '×'),
    row(`${prompt}: to the first token, over a loop by hand`, pairs(first.ours, first.byHand, over), '×'),
    row(
      `${prompt}: tokens a second, over transformers.js`,
      pairs(rate(token.ours), rate(token.transformers), over),
      '×',
      atLeast(1, '×'),
    ),
    row(`${prompt}: time a token, over a loop by hand`, pairs(token.ours, token.byHand, over), '×', atMost(1.05, '×')),
  ];
}

/** Calls the page's function in a fresh page. */
async function onPage(browser, url, work, options) {
  tell(`generation: ${work} ${JSON.stringify(options)}`);
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}generation/index.html`);
  await page.waitForFunction(() => 'generation' in globalThis);
  try {
    return await page.evaluate(([work, options]) => globalThis.generation[work](options), [work, options]);
  } finally {
    await page.close();
  }
}
