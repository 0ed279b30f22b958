/**
 * `npm run bench`: see README.md. Prints each part's table as it ends, then what has a goal; writes results.json, and
 * exits with 1 if a goal is missed. `-- --quick` is a shorter run, and `-- --only PART` is one part; they write
 * nothing.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { build, runnerImport } from 'vite';
import { tell } from './lib/progress.mjs';
import { serve } from './lib/server.mjs';
import { printTable } from './lib/table.mjs';
import { firstRows, LINE } from './first-answer.mjs';
import { frameRows } from './frames.mjs';
import { ATTENTIONS, generationRows } from './generation.mjs';
import { handlerRows } from './handlers.mjs';
import { writeLanguageModel } from './lib/language-model.mjs';
import { loadingRows, writeModels } from './loading.mjs';
import { peopleRows } from './people.mjs';
import { precisionRows } from './precisions.mjs';
import { PUBLISHED, publishedRows } from './published.mjs';
import { requestRows, writeRequestModels } from './requests.mjs';
import { serverRows } from './server.mjs';
import { servingRows, writeServingModels } from './serving.mjs';
import { speechRows } from './speech.mjs';
import { threadRows } from './threads.mjs';
import { webnnRows } from './webnn.mjs';

/** What each part measures: rows of the table. `isQuick`: whether a quick run has it. */
const PARTS = {
  first: { isQuick: true, rows: ({ options, lineUrl, mode }) => firstRows(chromium, options('wasm'), lineUrl, mode) },
  requests: { isQuick: true, rows: ({ launch, url, mode }) => requestRows(launch, url, mode) },
  serving: { isQuick: false, rows: ({ launch, url, mode }) => servingRows(launch, url, mode) },
  loading: { isQuick: false, rows: ({ options, url, mode }) => loadingRows(chromium, options, url, mode) },
  frames: { isQuick: false, rows: ({ launch, url, mode }) => frameRows(launch, url, mode) },
  people: { isQuick: false, rows: ({ launch, url }) => peopleRows(launch, url) },
  handlers: { isQuick: false, rows: ({ launch, url, mode }) => handlerRows(launch, url, mode) },
  generation: { isQuick: false, rows: ({ launch, url }) => generationRows(launch, url) },
  published: { isQuick: false, rows: ({ options, url }) => publishedRows(chromium, options('wasm'), url) },
  speech: { isQuick: false, rows: ({ launch, url }) => speechRows(launch, url) },
  server: { isQuick: false, rows: () => serverRows() },
  threads: { isQuick: false, rows: ({ launch, url }) => threadRows(launch, url) },
  precisions: { isQuick: false, rows: ({ launch, url }) => precisionRows(launch, url, MADE) },
  webnn: { isQuick: false, rows: ({ launchWebnn, url }) => webnnRows(launchWebnn, url) },
};

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const MADE = here('../.cache/bench-models');

const { only, quick: isQuick } = parseArgs({
  options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } },
}).values;
if (only !== undefined && !Object.hasOwn(PARTS, only))
  throw new Error(`--only ${only}: expected one of ${Object.keys(PARTS).join(', ')}.`);
const chosen = Object.keys(PARTS).filter((part) => (only ? part === only : !isQuick || PARTS[part].isQuick));

// npm leaves out what serves development in production, so it comes first.
if (chosen.some((part) => ['requests', 'frames', 'generation', 'published', 'speech'].includes(part))) installPeers();
process.env.NODE_ENV = 'production';
const before = round(loadavg()[0] ?? 0);
tell('building the pages');
await build({ configFile: here('vite.config.ts'), mode: only ?? 'production' });
if (chosen.includes('first')) await build({ configFile: here('vite.defaults.config.ts') });
tell('writing models');
if (chosen.includes('loading')) await writeModels(MADE);
await writeRequestModels(MADE);
if (chosen.includes('serving')) await writeServingModels(MADE);
if (chosen.includes('generation'))
  for (const attention of ATTENTIONS) await writeLanguageModel(`${MADE}/language-model-${attention}`, attention);
const { rows, ...machine } = await measure();
const goals = rows.filter(({ goal }) => goal !== null);
console.log(
  `\n${machine.browser}, ${machine.cores} cores (${machine.cpu}), load ${before} before and ${machine.load.after} after; 1 thread each. ` +
    Object.entries(machine.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
);
console.log('\nWhat has a goal:\n');
printTable(goals);
if (before > 1) console.log('\nThis machine was busy with something else: judge by a run on a quiet one.');
if (!only && !isQuick) writeFileSync(here('results.json'), `${JSON.stringify({ ...machine, rows }, null, 2)}\n`);
process.exitCode = goals.some(({ holds }) => !holds) ? 1 : 0;

/** What we compare with is large, and no part of the project: it is installed when first needed. */
function installPeers() {
  const { devDependencies } = JSON.parse(readFileSync(here('package.json'), 'utf8'));
  const isInstalled = ([name, wanted]) => {
    const installed = here(`node_modules/${name}/package.json`);
    return existsSync(installed) && JSON.parse(readFileSync(installed, 'utf8')).version === wanted;
  };
  if (Object.entries(devDependencies).every(isInstalled)) return;
  // The sibling of transformers.js for Node would fetch GPU libraries.
  const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' };
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: here('.'),
    env,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}

async function measure() {
  const load = (path) => runnerImport(here(path), { configFile: false, logLevel: 'error' });
  const [{ module }, packaged, { module: webnn }] = [
    await load('../scripts/chromium.ts'),
    await load('../scripts/vite/packaged-models.ts'),
    await load('../scripts/webnn-chromium.ts'),
  ];
  const folders = {
    ...packaged.module.packagedFiles(),
    '/': here('../.cache/bench'),
    '/defaults/': here('../.cache/bench-defaults'),
    '/model/': here('model'),
    '/models/': here('../public/models'),
    '/made/': MADE,
    '/weights/': PUBLISHED,
    '/ort/': here('node_modules/onnxruntime-web/dist'),
    '/mediapipe/': here('node_modules/@mediapipe/tasks-vision/wasm'),
  };
  const server = await serve(folders);
  const line = await serve(folders, LINE);
  const options = (backend) => ({
    args: [...module.chromiumArgs[backend]],
    ...(module.chromiumPath && { executablePath: module.chromiumPath }),
  });
  const launch = (backend) => chromium.launch(options(backend));
  const launchWebnn =
    webnn.webnnPath && (() => chromium.launch({ args: [...webnn.webnnArgs], executablePath: webnn.webnnPath }));
  const manifest = here('../node_modules/onnxruntime-web/package.json');
  const versions = { onnxruntimeWeb: JSON.parse(readFileSync(manifest, 'utf8')).version };
  const rows = [];
  const seconds = {};
  try {
    for (const part of chosen) {
      tell(`${part}:`);
      const started = performance.now();
      const measured = await PARTS[part].rows({
        launch,
        launchWebnn,
        options,
        url: server.url,
        lineUrl: line.url,
        mode: { isQuick, isAlone: only !== undefined, versions },
      });
      seconds[part] = Math.round((performance.now() - started) / 1000);
      console.log(`\n${part}, ${seconds[part]} s:\n`);
      printTable(measured);
      rows.push(...measured);
    }
    const browser = await launch('wasm');
    const version = browser.version();
    await browser.close();
    return {
      date: new Date().toISOString(),
      browser: `Chromium ${version}`,
      cores: availableParallelism(),
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      load: { before, after: round(loadavg()[0] ?? 0) },
      threads: 1,
      versions,
      seconds,
      rows,
    };
  } finally {
    server.close();
    line.close();
  }
}

function round(value) {
  return Number(value.toFixed(2));
}
