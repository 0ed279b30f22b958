/** The section on people: faces, hands and bodies in the frames of a camera, 1280 × 720. */
import { tell } from './lib/progress.mjs';
import { atLeast, atMost, minus, row } from './lib/rows.mjs';
import { pairs } from './lib/statistics.mjs';

/** In this many rounds the detector runs six times. */
const ROUNDS = { warmUps: 20, rounds: 60 };
const ASTRONAUT = '/models/selfie/samples/astronaut.jpg';
const KINDS = {
  face: { archive: '/models/face/', detectorSide: 128, side: 192, photo: ASTRONAUT },
  hand: { archive: '/models/hand/', detectorSide: 256, side: 224, photo: '/models/hand/samples/sofa.jpg' },
  pose: { archive: '/models/pose/', detectorSide: 224, side: 256, photo: ASTRONAUT },
};

/**
 * @param {(backend: 'wasm' | 'webgpu') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 */
export async function peopleRows(launch, url) {
  const rows = [];
  for (const [name, options] of Object.entries(KINDS)) {
    tell(`people: ${name}`);
    const browser = await launch('wasm');
    try {
      const page = await browser.newPage();
      page.on('pageerror', (error) => console.error(error));
      await page.goto(`${url}people/index.html`);
      await page.waitForFunction(() => 'people' in globalThis);
      const measured = await page.evaluate((all) => globalThis.people.measurePeople(all), { ...options, ...ROUNDS });
      rows.push(...rowsOf(name, measured));
    } finally {
      await browser.close();
    }
  }
  return rows;
}

function rowsOf(kind, { ours, tfjs, tracked, model, count }) {
  const name = `people: ${kind}, ${count} in the picture`;
  // The detector runs in every tenth frame, so a camera's rate follows from the sum.
  const rate = (times) => (1000 * times.length) / times.reduce((sum, one) => sum + one, 0);
  return [
    row(`${name}: TabServe on onnx/wasm`, rate(ours), 'frames/s'),
    row(`${name}: TensorFlow.js by hand`, rate(tfjs), 'frames/s'),
    row(`${name}: TabServe over TensorFlow.js by hand`, rate(ours) / rate(tfjs), '×', atLeast(1, '×')),
    row(`${name}: a frame without detection, from call to answer`, tracked, 'ms'),
    row(`${name}: the runs of the model of landmarks alone`, model, 'ms'),
    row(`${name}: a frame without detection, less these runs`, pairs(tracked, model, minus), 'ms', atMost(3, 'ms')),
  ];
}
