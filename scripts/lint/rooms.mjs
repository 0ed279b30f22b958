/**
 * The rooms of `src`, and which rooms each may import. The linter's rule `tabserve/rooms` and the table in
 * ARCHITECTURE.md are made from it: after a change, run `npm run generate`.
 *
 * A file belongs to the room with the longest matching path. A room may import itself, and the rooms that are listed:
 * `worker` allows every room of the worker, `page/*` every room of the page. Rooms in `types`
 * may be imported as types only.
 *
 * @typedef {object} Room
 * @property {string} runs where its code runs
 * @property {string} what what is in it
 * @property {readonly string[]} imports
 * @property {readonly string[]} [types]
 * @property {Readonly<Record<string, readonly string[]>>} [lazy] rooms that a file of it may import by `import()`
 * @property {readonly string[]} [packages] npm packages that only rooms which list them may import
 */

import { readdirSync } from 'node:fs';

const BOTH = ['contract', 'shared'];
const LOW = [...BOTH, 'worker/tensors', 'worker/libraries'];
/** What handlers and tasks are made of. */
const OF_HANDLERS = [
  ...LOW,
  'worker/transforms',
  'worker/images',
  'worker/audio',
  'worker/text',
  'worker/generation',
  'worker/outputs',
];
const ENGINES = ['onnxruntime-web', 'onnxruntime-node', '@tensorflow'];

/** The folders of tasks: no task imports a task of another one. */
const TASKS = readdirSync(new URL('../../src/worker/tasks/', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `worker/tasks/${name}`);
const ANY_TASK = 'worker/tasks/*';

/** @type {Readonly<Record<string, Room>>} */
export const ROOMS = {
  contract: {
    runs: 'everywhere',
    what: 'Types that both sides share, by subject; the table of errors, the table of settings, the messages (`wire.ts`)',
    imports: [],
  },
  shared: {
    runs: 'everywhere',
    what: 'Code that both sides run: schemas, how options are read, metric definitions, the stores of cached files, retries; `open-inference/` has the messages of the Open Inference Protocol',
    imports: ['contract'],
  },
  'page/metrics': { runs: 'page', what: "Counters, histograms, Prometheus' text", imports: BOTH },
  'page/requests': {
    runs: 'page',
    what: 'input → job → queue → batch; what answers the requests of a client, as a type (`sender.ts`)',
    imports: [...BOTH, 'page/metrics'],
    types: ['worker'],
  },
  'page/workers': {
    runs: 'page',
    what: 'connection, slot, pool, reconciler: [the state machine](#workers-are-one-state-machine)',
    imports: [...BOTH, 'page/requests'],
  },
  'page/options': {
    runs: 'page',
    what: "A client's options: their types, and how they are read",
    imports: BOTH,
    types: ['page/requests', 'page/selection'],
  },
  'page/selection': {
    runs: 'page',
    what: "Which backend: candidates, trial, cached verdicts; the sender of the tab's own workers",
    imports: [...BOTH, 'page/metrics', 'page/options', 'page/requests', 'page/workers'],
  },
  'page/sharing': {
    runs: 'page',
    what: 'One model for all tabs: the election of the host tab, and what the tabs send each other ([how](#one-model-for-all-tabs)); loaded with the option `share` only',
    imports: [...BOTH, 'page/metrics', 'page/options', 'page/requests', 'page/workers'],
    types: ['page/selection'],
  },
  'page/sequences': {
    runs: 'page',
    what: 'Sequences, whose state the page retains; the samples of a live track',
    imports: [...BOTH, 'page/requests', 'page/streams'],
  },
  'page/streams': {
    runs: 'page',
    what: 'Answers in chunks, read one by one; the frames of a camera, a video or a stream',
    imports: [...BOTH, 'page/requests'],
  },
  'page/client': {
    runs: 'page',
    what: 'What an app holds: `client`, `connect`, `load`, `cache`, events, log',
    imports: [
      ...BOTH,
      'page/metrics',
      'page/options',
      'page/requests',
      'page/selection',
      'page/sequences',
      'page/sharing',
      'page/streams',
      'page/workers',
    ],
    types: ['worker'],
  },
  'page/results': {
    runs: 'page',
    what: 'What an app does with results: colors for masks, similarity of vectors',
    imports: BOTH,
    types: ['worker'],
  },
  'page/ai-sdk': {
    runs: 'page',
    what: "Models for Vercel's AI SDK, the entry `tabserve/ai-sdk`: its calls as requests of a client",
    imports: BOTH,
  },
  'page/pipeline': {
    runs: 'page',
    what: "`pipeline` with transformers.js' calls, the entry `tabserve/pipeline`: its calls as requests of a client",
    imports: [...BOTH, 'page/client'],
  },
  'page/prompt-api': {
    runs: 'page',
    what: "The Prompt API's `LanguageModel`, the entry `tabserve/prompt-api`: its sessions as requests of a client",
    imports: BOTH,
    types: ['page/ai-sdk'],
  },
  'page/devtools': {
    runs: 'page',
    what: 'The element `<tabserve-devtools>`, the entry `tabserve/devtools`: what clients, their workers and their requests do',
    imports: [...BOTH, 'page/client', 'page/selection'],
    types: ['page/requests'],
  },
  'page/frameworks': {
    runs: 'page',
    what: 'The entries `tabserve/react`, `tabserve/vue` and `tabserve/svelte`: a store over a client that components share',
    imports: [...BOTH, 'page/client', 'page/options', 'page/requests', 'page/streams'],
    types: ['page/workers', 'worker/handlers'],
  },
  worker: {
    runs: 'worker',
    what: 'The built-in worker',
    imports: ['worker/engines', 'worker/handlers', 'worker/host'],
  },
  'worker/host': {
    runs: 'worker',
    what: "`expose`, the host of a handler, its contexts, a workflow's nodes, warm-up and proof",
    imports: [...BOTH, 'worker'],
  },
  'worker/handlers': {
    runs: 'worker',
    what: 'What a task may extend: a class for each kind of input; the registry, which loads a task by its name',
    imports: [...OF_HANDLERS, 'worker/tasks'],
    lazy: { 'registry.ts': [ANY_TASK] },
  },
  'worker/tasks': {
    runs: 'worker',
    what: 'The list of the tasks, made from their classes',
    imports: ['contract', 'worker/handlers', ANY_TASK],
  },
  [ANY_TASK]: {
    runs: 'worker',
    what: 'One folder a family of tasks: their handlers, and what only they need. A folder is one lazy script',
    imports: [...OF_HANDLERS, 'worker/handlers'],
  },
  'worker/generation': {
    runs: 'worker',
    what: 'Generating text: encoder, decoder with its key–value cache, beams, the rules for the next token, chat templates',
    imports: [...LOW, 'worker/text', 'worker/outputs'],
  },
  'worker/transforms': {
    runs: 'worker',
    what: 'Image transforms: declared as data, compiled for the CPU; `gpu/` runs the same programs in WGSL, and compares both',
    imports: LOW,
  },
  'worker/images': { runs: 'worker', what: 'Decoding: any image source to upright, opaque pixels', imports: LOW },
  'worker/audio': { runs: 'worker', what: 'WAV files, resampling', imports: LOW },
  'worker/text': { runs: 'worker', what: 'Tokenizers', imports: LOW },
  'worker/outputs': {
    runs: 'worker',
    what: 'Softmax, top-k, boxes, NMS, decoders, masks: pure functions',
    imports: LOW,
  },
  'worker/engines': {
    runs: 'worker',
    what: 'With `libraries` the only importers of ONNX Runtime and TensorFlow.js; one lazy script per backend. `remote/` is the engine of models on a server',
    imports: [...LOW, 'worker/models'],
    packages: ENGINES,
  },
  'worker/models': {
    runs: 'worker',
    what: "Archive, manifest, config, a workflow's nodes, downloads, integrity, golden examples",
    imports: [...LOW, 'worker/tasks'],
  },
  'worker/tensors': { runs: 'worker', what: 'Functions on tensors: stack, slice, float16', imports: BOTH },
  'worker/libraries': {
    runs: 'worker',
    what: 'The libraries that are loaded when used, one file each: in the package, [each is a file that bundlers copy](#the-build)',
    imports: ['contract'],
    packages: ENGINES,
  },
  server: {
    runs: 'page, Node',
    what: 'The model server, the entry `tabserve/serving`: names, versions, `fetch`. It takes clients through `served-client.ts`; `http/` turns a `Request` into a call of a client, and its result into a `Response`',
    imports: [...BOTH, 'worker/tensors'],
    types: ['worker/outputs'],
  },
  'server/service-worker': {
    runs: 'service worker, page',
    what: '`fetch`, answered by the device, the entry `tabserve/service-worker`',
    imports: BOTH,
  },
  'server/node': {
    runs: 'Node',
    what: 'The entry `tabserve/node`, and `tabserve/worker` under Node: worker threads that look like Web Workers, onnxruntime-node, files on disk, images by sharp. Client and worker are the same code as in a browser',
    imports: [...BOTH, 'page/*', 'server', 'worker'],
  },
  'tools/cli': {
    runs: 'Node',
    what: '`npx tabserve`: packs, optimizes, checks and tests archives, describes model files, copies the files for pages without a bundler, changes the imports of apps that use transformers.js, and compares device reports',
    imports: [...BOTH, 'page/pipeline', 'server', 'server/node', 'tools', 'worker'],
    packages: [...ENGINES, 'oxc-parser'],
  },
  'tools/create': {
    runs: 'Node',
    what: '`npm create tabserve`, the package `create-tabserve`: an app from `examples/templates`',
    imports: [...BOTH, 'tools/cli'],
  },
  'tools/testing': {
    runs: 'Node',
    what: 'Runs an archive on every backend of Chromium, for `npx tabserve test` and for the entry `tabserve/testing`, a Playwright fixture; `in-page.ts` alone runs in the page',
    imports: [...BOTH, 'tools', 'worker'],
    types: ['entries'],
  },
  'tools/vite': {
    runs: 'Node',
    what: 'The Vite plugin, the entry `tabserve/vite`: pre-bundling, headers, which engines are built',
    imports: ['contract'],
  },
};

/**
 * Returns the room of a file; `entries` for a file that is directly in `src`. A folder of tasks is a room of its own.
 * @param {string} path relative to `src`, with slashes
 */
export function roomOf(path) {
  if (!path.includes('/')) return 'entries';
  return [...Object.keys(ROOMS), ...TASKS]
    .filter((room) => path.startsWith(`${room}/`))
    .reduce((longest, room) => (room.length > longest.length ? room : longest), '');
}

/**
 * Returns why one file may not import another, or undefined if it may.
 * @param {string} from path relative to `src`
 * @param {string} to the same
 * @param {'value' | 'type' | 'lazy'} how as a value, as a type, or by `import()`
 */
export function violation(from, to, how) {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === 'entries' || room === target) return undefined;
  if (room === '') return `${from} is in no room. List its folder in scripts/lint/rooms.mjs.`;
  const { imports, types = [], lazy = {} } = ROOMS[TASKS.includes(room) ? ANY_TASK : room];
  const ownLazy = lazy[from.slice(room.length + 1)] ?? [];
  const allowed = how === 'type' ? [...imports, ...types] : how === 'lazy' ? [...imports, ...ownLazy] : imports;
  if (isAmong(allowed, target)) return undefined;
  const also = [
    types.length > 0 ? `, and as types ${types.join(', ')}` : '',
    ...Object.entries(lazy).map(([file, rooms]) => `, and ${file} by import() ${rooms.join(', ')}`),
  ].join('');
  return `${room} does not import ${target}. It imports ${imports.join(', ') || 'no other room'}${also}: ARCHITECTURE.md.`;
}

/**
 * @param {readonly string[]} list
 * @param {string} room
 */
function isAmong(list, room) {
  const [top] = room.split('/');
  const parent = room.slice(0, room.lastIndexOf('/'));
  return list.some((one) => one === room || (one !== 'page' && one === top) || one === `${parent}/*`);
}
