/**
 * The part on smaller weights, as `tabserve optimize` makes them: bytes, memory, first answer and time of a run on one
 * thread of WASM, side by side.
 */
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { atMost, row } from './lib/rows.mjs';
import { median } from './lib/statistics.mjs';
import { onTurnsPage, ratios } from './lib/turns.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WEIGHTS = ['float32', 'float16', 'int8'];
/** Weights are float32 again when the model is open. */
const GOAL = atMost(1.03, '×');

/**
 * `from`: the folder with its archive, in `made` if it is written there; `file`: its model. One instance of ONNX
 * Runtime may be slower than another for as long as it lives, so each is opened several times.
 */
const MODELS = [
  {
    label: 'MobileNetV2 1.0',
    from: (made) => join(made, 'mobilenet'),
    file: 'onnx/model.onnx',
    handler: 'image_classifier',
    warmUps: 2,
    rounds: 6,
    openings: 3,
  },
  {
    label: 'selfie',
    from: () => here('../public/models/selfie'),
    file: 'model.onnx',
    handler: 'image_segmenter',
    warmUps: 4,
    rounds: 20,
    openings: 3,
  },
];

/**
 * @param {(backend: 'wasm') => Promise<import('@playwright/test').Browser>} launch
 * @param {string} url of the benchmark's server
 * @param {string} made the folder that it serves as `/made/`
 */
export async function precisionRows(launch, url, made) {
  const { module } = await runnerImport(here('../src/tools/cli/optimize/onnx-weights.ts'), {
    configFile: false,
    logLevel: 'error',
  });
  const browser = await launch('wasm');
  try {
    const rows = [];
    for (const { openings, from, file, ...model } of MODELS) {
      const settings = WEIGHTS.map((weights) => {
        const folder = `${model.label.replaceAll(/\W/g, '-')}-${weights}`;
        writeArchive(from(made), join(made, folder), file, weights, module.shrinkOnnx);
        return { name: weights, candidate: 'onnx/wasm', threads: 1, model: `/made/${folder}/` };
      });
      const measured = [];
      // What is compiled and cached at the first opening is there at the others.
      for (let opening = -1; opening < openings; opening++) {
        // Each is opened first, second and last as often as the others.
        const order = settings.map((_, index) => settings[(index + opening + settings.length) % settings.length]);
        const one = await onTurnsPage(browser, url, 'measureTurns', { ...model, settings: order });
        if (opening >= 0) measured.push(one);
      }
      const values = (weights, key) => measured.map((one) => one[weights][key]);
      const runs = (weights) => measured.map((one) => median(one[weights].times));
      rows.push(
        ...settings.flatMap(({ name, model: path }) => {
          const what = `precisions: ${model.label}, ${name} weights`;
          const { size } = statSync(join(made, path.replace('/made/', ''), file));
          return [
            row(`${what}: download`, size / 1e6, 'MB'),
            row(`${what}: memory of the engine`, values(name, 'memory'), 'MB'),
            row(`${what}: first answer from the cache`, values(name, 'firstAnswer'), 'ms'),
            row(`${what}: inference`, runs(name), 'ms'),
            ...(name === 'float32'
              ? []
              : [
                  row(
                    `${what}: inference over float32`,
                    ratios(runs(name), runs('float32')),
                    '×',
                    name === 'float16' ? GOAL : undefined,
                  ),
                ]),
          ];
        }),
      );
    }
    return rows;
  } finally {
    await browser.close();
  }
}

/**
 * Copies an archive, with its model in these weights. Golden examples and hashes are those of the model as it was, and
 * stay behind.
 */
function writeArchive(from, to, file, weights, shrinkOnnx) {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  if (weights !== 'float32') {
    const { model } = shrinkOnnx(readFileSync(join(from, file)), {
      weights,
      external: new Map(),
      rename: (one) => one,
    });
    writeFileSync(join(to, file), model);
  }
  const extras = join(to, 'tabserve.json');
  if (statSync(extras, { throwIfNoEntry: false }) === undefined) return;
  const { files: _, golden: _golden, ...others } = JSON.parse(readFileSync(extras, 'utf8'));
  writeFileSync(extras, JSON.stringify(others));
}
