/**
 * `npm run published`: asks published models in a tab, on WASM and a small one on WebGPU, by the address of their
 * repository alone, and under Node, in their folder, and compares their answers with Python's. A made-up hub answers for
 * huggingface.co. Prints a table, and writes it to docs/models.md. `-- --only NAME` asks one model, and writes nothing.
 * Needs `npm run build`, and the weights: see README.md.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';
import { peakRise } from '../../bench/lib/process-memory.mjs';
import { openTestPages } from '../../bench/lib/test-page.mjs';
import { ask } from './ask.mjs';
import { COMPARE } from './compare.mjs';
import { joinedSound, madeSound, plain, soundOf } from './inputs.mjs';
import { MODELS, optionsOf } from './models.mjs';
import { tableOf, writeTable } from './table.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const expected = JSON.parse(readFileSync(`${root}test/goldens/published/answers.json`, 'utf8'));
const ON_WEBGPU = 'tab, WebGPU in software';
const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;

const hub = await openHub();
const pages = await openTestPages([
  `--host-resolver-rules=MAP huggingface.co:443 127.0.0.1:${hub.port},MAP *.hf.co:443 127.0.0.1:${hub.port}`,
  '--ignore-certificate-errors',
  ...(await onGpus()),
]);

const rows = [];
let isRight = true;
let isPartial = false;
for (const model of MODELS.filter(({ name, asked }) => only === undefined || [name, asked].includes(only))) {
  const missing = model.files.find((file) => !existsSync(`${root}${model.folder}/${file}`));
  if (missing !== undefined) {
    isPartial = true;
    console.log(
      `${model.name}, ${model.dtype}: skipped, because ${model.folder}/${missing} is missing. See scripts/published/README.md.`,
    );
    continue;
  }
  const right = expected[model.asked ?? model.name];
  const { inputs, newTokens, params = newTokens ? { maxNewTokens: newTokens } : {} } = right;
  const work = {
    options: optionsOf(model),
    inputs: model.task === 'text_generator' ? inputs.map(chat) : inputs,
    params,
  };
  for (const where of ['tab, WASM', ...(model.onWebgpu ? [ON_WEBGPU] : []), 'Node']) {
    const found = await (where === 'Node' ? inNode(model, work) : inTab(model, work, where));
    const { text, holds } = COMPARE[model.kind](found.answers, right, model.dtype, where);
    isRight &&= holds;
    const size = model.files.reduce((sum, file) => sum + statSync(`${root}${model.folder}/${file}`).size, 0);
    rows.push({ ...model, where, size, ...found, text });
    console.log(tableOf([rows.at(-1)]).at(-1), holds ? '' : 'WRONG');
  }
}
await pages.close();
hub.stop();
// A table without the models that were not there would say that they were not compared.
if (only === undefined && !isPartial) writeTable(rows);
process.exit(isRight ? 0 : 1);

/** Returns Chromium's arguments for WebGPU in software. */
async function onGpus() {
  const { module } = await runnerImport(`${root}scripts/chromium.ts`, { configFile: false, logLevel: 'error' });
  return module.chromiumArgs.webgpu.filter((one) => !module.chromiumArgs.wasm.includes(one));
}

/** Starts a hub with the repositories that were fetched. */
async function openHub() {
  const { module } = await runnerImport(`${root}test/hub.ts`, { configFile: false, logLevel: 'error' });
  const fetched = MODELS.filter(({ repository, folder }) => repository && existsSync(root + folder));
  return await module.MadeUpHub.start({
    repositories: Object.fromEntries(fetched.map(({ repository, folder }) => [repository, filesOf(root + folder)])),
    isSecure: true,
  });
}

/** Returns the files of a folder. */
function filesOf(folder) {
  const paths = readdirSync(folder, { recursive: true }).filter((path) => statSync(`${folder}/${path}`).isFile());
  return Object.fromEntries(
    paths.map((path) => [path, { bytes: readFileSync(`${folder}/${path}`), isLarge: path.endsWith('.onnx') }]),
  );
}

function chat(content) {
  return { messages: [{ role: 'user', content }] };
}

function inNode({ folder, path }, work) {
  const given = JSON.stringify({ ...work, folder: `${root}${folder}/${path}` });
  const script = fileURLToPath(new URL('in-node.mjs', import.meta.url));
  return JSON.parse(execFileSync(process.execPath, [script, given], { maxBuffer: 2 ** 28, encoding: 'utf8' }));
}

async function inTab({ repository, folder, path }, work, where) {
  const context = await pages.browser.newContext();
  const page = await context.newPage();
  await pages.goto(page, 'tabserve');
  const devtools = await pages.browser.newBrowserCDPSession();
  let found;
  const { renderers } = await peakRise(devtools, async () => {
    found = await page.evaluate(
      async ({ given, sources }) => {
        const [ask, plain, soundOf, madeSound, joinedSound] = sources.map((source) =>
          new Function(`return ${source.replace(/^export /, '')}`)(),
        );
        const inputOf = async (input) => {
          if (typeof input === 'object' && 'made' in input) return madeSound(input.made);
          if (typeof input === 'object' && 'joined' in input)
            return joinedSound(await Promise.all(input.joined.map(inputOf)));
          if (typeof input !== 'string' || !/\.(png|jpg|wav)$/.test(input)) return input;
          const response = await fetch(`/${input}`);
          return input.endsWith('.wav') ? soundOf(new Uint8Array(await response.arrayBuffer())) : await response.blob();
        };
        const inputs = await Promise.all(given.inputs.map(inputOf));
        const answered = await ask(window.tabserve.load, { ...given, inputs });
        return { ...answered, answers: answered.answers.map(plain) };
      },
      {
        given: {
          ...withBackend(work, { repository, backend: where === ON_WEBGPU ? 'webgpu' : 'wasm' }),
          url: repository ? `https://huggingface.co/${repository}` : `/${folder}/${path}`,
        },
        sources: [ask, plain, soundOf, madeSound, joinedSound].map(String),
      },
    );
  });
  await context.close();
  return { ...found, bytes: renderers };
}

/** Returns the options with a backend. A repository says itself which handler it is for. */
function withBackend({ options: { handler, ...options }, ...work }, { repository, backend }) {
  return { ...work, options: { ...options, ...(!repository && { handler }), backends: [backend] } };
}
