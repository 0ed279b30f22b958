/**
 * node scripts/optimized.mjs: makes the weights of the gallery's models smaller with `tabserve optimize`, and prints
 * what that saves and costs, as the tables of `docs/command-line.md`: sizes, differences, the time of a run on WASM
 * under Node, and, for one model in each precision, download, memory and first answer. With `--backends wasm,onnx/webgpu`
 * each archive is also run on these backends of Chromium, with `tabserve test`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';
import { startEngine } from '../dist/server/node/engines.js';
import { load } from '../dist/node.js';
import { readGolden } from '../dist/worker/models/golden.js';
import { createFiles } from '../dist/worker/models/files.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({
  options: {
    models: {
      type: 'string',
      default: 'digits,languages,likeness,selfie,upscaler,orientation,vad,ocr/detect,ocr/orient,ocr/recognize',
    },
    backends: { type: 'string' },
    rounds: { type: 'string', default: '30' },
  },
});
const {
  module: { packagedFiles },
} = await runnerImport(`${root}scripts/vite/packaged-models.ts`);
const packaged = packagedFiles();
const work = mkdtempSync(join(tmpdir(), 'tabserve-optimized-'));

/** Copies a gallery model, with the files that npm packages have. */
function gather(name) {
  const folder = join(work, name);
  cpSync(join(root, 'public/models', name), folder, { recursive: true });
  rmSync(join(folder, 'samples'), { recursive: true, force: true });
  for (const [path, from] of Object.entries(packaged)) {
    const own = path.slice('/models/'.length);
    if (dirname(own) === name && !existsSync(join(work, own))) cpSync(from, join(work, own));
  }
  return folder;
}

const tabserve = (...args) =>
  spawnSync(process.execPath, [join(root, 'dist/tools/cli/main.js'), ...args], { encoding: 'utf8', timeout: 900_000 });

/** Runs two models in turns on the inputs of a golden example. Returns the least time of each, in milliseconds. */
async function race(paths, golden) {
  const engine = await startEngine('onnx/wasm');
  const sessions = [];
  for (const path of paths)
    sessions.push(await engine.open(createFiles({ 'model.onnx': readFileSync(path) }), 'model.onnx', {}));
  const { inputs } = readGolden(readFileSync(golden), 'golden', sessions[0].inputs);
  const least = paths.map(() => Infinity);
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [index, session] of sessions.entries()) {
      const since = performance.now();
      await session.run(inputs);
      least[index] = Math.min(least[index], performance.now() - since);
    }
  for (const session of sessions) await session[Symbol.asyncDispose]();
  return least;
}

const SIZES =
  /^(\S+) → (\S+): (.+) → (.+) \((\d+) %\), \d+ tensors?\n +largest difference on the golden examples: (\S+); before: (\S+)$/gm;

console.log(
  `\n| Model | File | Before | After | | Largest difference | Before | Time of a run, before and after | ${values.backends ? 'Backends | ' : ''}`,
);
console.log(`| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ${values.backends ? '--- | ' : ''}`);
for (const name of values.models.split(',')) {
  const folder = gather(name);
  const { stdout, stderr, status } = tabserve('optimize', folder, '--force');
  if (status !== 0) {
    console.log(`| ${name} | refused: ${stderr.trim()} |`);
    continue;
  }
  const made = `${folder}-float16`;
  let verdicts = '';
  if (values.backends) {
    const { stdout: report, stderr: refused } = tabserve(
      'test',
      made,
      '--backends',
      values.backends,
      '--timeout',
      '180',
    );
    console.error(report, refused);
    verdicts = [...report.matchAll(/^ +((?:onnx|tfjs)\/\w+) +(right|wrong|skipped|failed) +(\S+)/gm)]
      .map(([, backend, verdict, error]) => `${backend} ${verdict} (${error})`)
      .join(', ');
  }
  for (const [, from, to, before, after, percent, error, own] of stdout.matchAll(SIZES)) {
    const isOnnx = from.endsWith('.onnx');
    const times = isOnnx
      ? await race([join(folder, from), join(made, to)], join(folder, 'golden.safetensors'))
      : undefined;
    const time = times
      ? `${times.map((one) => one.toPrecision(3)).join(' and ')} ms (${(((times[1] - times[0]) / times[0]) * 100).toFixed(1)} %)`
      : '-';
    const own2 = values.backends ? ` ${verdicts} |` : '';
    console.log(`| ${name} | \`${from}\` | ${before} | ${after} | ${percent} % | ${error} | ${own} | ${time} |${own2}`);
  }
}

/** Measures one model in each precision: what is downloaded, how long the first answer takes, and the memory of the engine. */
async function variants(name) {
  const folder = gather(name);
  for (const [from, flags] of [
    [folder, []],
    [`${folder}-a`, ['--weights', 'int8', '--agreement', 'labels']],
  ])
    tabserve('optimize', from, '--keep', '--force', '-o', from === folder ? `${folder}-a` : `${folder}-b`, ...flags);
  const all = `${folder}-b`;
  const model = readdirSync(all).find((file) => file.endsWith('.onnx') && !file.includes('-'));
  const { inputs } = readGolden(readFileSync(join(all, 'golden.safetensors')), 'golden');
  console.log(
    `\n| ${name} | Download | First answer | Memory | Largest difference |\n| --- | ---: | ---: | ---: | ---: |`,
  );
  for (const [dtype, ending] of [
    ['fp32', ''],
    ['float16-weights', '-float16'],
    ['int8-weights', '-int8'],
  ]) {
    const took = [];
    let memory, error;
    for (let round = 0; round < 3; round++) {
      const since = performance.now();
      const client = await load(all, { backends: ['onnx/wasm'], config: { engine: { dtype } } });
      await client.infer(inputs);
      took.push(performance.now() - since);
      memory = Number(/MemoryUsed\S* ([\d.]+)/.exec(client.metrics.prometheus())?.[1]);
      error = client.backend.largestError;
      await client.dispose();
    }
    const { size } = statSync(join(all, model.replace('.onnx', `${ending}.onnx`)));
    console.log(
      `| \`${dtype}\` | ${(size / 1e6).toFixed(2)} MB | ${Math.min(...took).toFixed(0)} ms | ${memory.toFixed(1)} MB | ${error.toPrecision(2)} |`,
    );
  }
}
if (!values.backends) await variants('languages');
console.log(`\n${cpus().length} cores; least times of ${values.rounds} runs in turns.`);
rmSync(work, { recursive: true, force: true });
