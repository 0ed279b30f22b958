/**
 * The part on WebNN: MobileNetV2 there and on one thread of WASM, in turns, in the Chromium that `npm run webnn`
 * installs.
 */
import { row } from './lib/rows.mjs';
import { onTurnsPage, ratios } from './lib/turns.mjs';
import { tell } from './lib/progress.mjs';

const MODEL = { label: 'MobileNetV2 1.4', model: '/model/', handler: 'image_classifier', warmUps: 3, rounds: 20 };
const freeDimensions = { batch: 1 };
const SETTINGS = [
  { name: 'onnx/webnn', candidate: 'onnx/webnn', threads: 1, freeDimensions },
  { name: 'onnx/wasm, 1 thread', candidate: 'onnx/wasm', threads: 1, freeDimensions },
];

/**
 * @param {(() => Promise<import('@playwright/test').Browser>) | undefined} launch undefined if there is no such browser
 * @param {string} url of the benchmark's server
 */
export async function webnnRows(launch, url) {
  if (!launch) {
    tell('no browser with WebNN: npm run webnn -- --install');
    return [];
  }
  const browser = await launch();
  try {
    const measured = await onTurnsPage(browser, url, 'measureTurns', { ...MODEL, settings: SETTINGS });
    const [webnn, wasm] = SETTINGS.map(({ name }) => measured[name].times);
    return [
      ...Object.entries(measured).map(([name, { times }]) =>
        row(`webnn: ${MODEL.label} on ${name}: inference`, times, 'ms'),
      ),
      row(`webnn: ${MODEL.label}, onnx/webnn over one thread of WASM`, ratios(webnn, wasm), '×'),
    ];
  } finally {
    await browser.close();
  }
}
