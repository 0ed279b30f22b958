/**
 * The section on handlers that run a model many times for one input: a workflow by its nodes, and explanations by their
 * masks.
 */
import { tell } from './lib/progress.mjs';
import { row as rowOf } from './lib/rows.mjs';
import { median } from './lib/statistics.mjs';

const READING = { photo: '/models/ocr/samples/receipt.jpg', warmUps: 1, rounds: 3 };
const EXPLAINING = {
  width: 640,
  height: 480,
  rounds: 1,
  methods: { occlusion: { method: 'occlusion' }, RISE: { method: 'rise', masks: 40 } },
};
const STAGES = ['preprocess', 'inference', 'postprocess'];

/**
 * @param {(backend: 'wasm' | 'webgpu') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 */
export async function handlerRows(launch, url) {
  const browser = await launch('wasm');
  try {
    return [
      ...readingRows(await onPage(browser, url, 'measureReading', READING)),
      ...explainingRows(await onPage(browser, url, 'measureExplaining', EXPLAINING)),
    ];
  } finally {
    await browser.close();
  }
}

/** Calls the page's function in a fresh page. */
async function onPage(browser, url, work, options) {
  tell(`handlers: ${work}`);
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`${url}handlers/index.html`);
  await page.waitForFunction(() => 'handlers' in globalThis);
  try {
    return await page.evaluate(([work, options]) => globalThis.handlers[work](options), [work, options]);
  } finally {
    await page.close();
  }
}

function row(name, values, unit) {
  return rowOf(`handlers: ${name}`, values, unit);
}

function readingRows({ elapsed, nodes, lines }) {
  const name = `text_reader on onnx/wasm, a photo of ${lines} lines`;
  const rows = [row(`${name}: from call to answer`, elapsed, 'ms')];
  for (const [node, timings] of Object.entries(nodes))
    for (const stage of STAGES)
      rows.push(
        row(
          `${name}: ${node}, ${stage}`,
          timings.map((one) => one[stage] ?? 0),
          'ms',
        ),
      );
  return rows;
}

function explainingRows({ inference, methods }) {
  const rows = [row(`explain on onnx/wasm: the inference of one photo`, inference, 'ms')];
  for (const [method, { elapsed, variants }] of Object.entries(methods)) {
    const name = `explain on onnx/wasm, ${method} with ${variants} masks`;
    const perMask = elapsed.map((whole) => whole / variants);
    rows.push(
      row(`${name}: per mask`, perMask, 'ms'),
      row(
        `${name}: per mask, over the inference`,
        perMask.map((one) => one / median(inference)),
        '×',
      ),
    );
  }
  return rows;
}
