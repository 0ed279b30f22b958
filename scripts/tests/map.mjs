/**
 * Which tests show what a part of the repository does. `npm run test:changed` and the table in CONTRIBUTING.md are made
 * from it: after a change, run `npm run generate`.
 *
 * A file belongs to the row with the longest matching path. Unit tests are not listed: `test/unit` mirrors `src`. The
 * others are named as on Playwright's command line: a project and its specs. Browser specs run on WASM, and on a GPU's
 * backend where that backend has code of its own.
 * @type {Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>}
 */
export const SPECS = {
  'src/': { packaging: ['api', 'package', 'size'] },
  'src/contract/': { unit: ['unit'], wasm: ['workers', 'serving', 'bad-input'], packaging: ['api', 'copies'] },
  'src/shared/': { unit: ['unit'], wasm: ['cache', 'downloads', 'hub', 'model-server', 'bad-input'] },
  'src/page/': { wasm: ['workers', 'serving', 'classifier'] },
  'src/page/client/': { wasm: ['workers', 'serving', 'cache', 'explain'] },
  'src/page/options/': { wasm: ['workers', 'backends', 'remote', 'downloads'] },
  'src/page/results/': { wasm: ['explain', 'segmenter'], packaging: ['gallery'] },
  'src/page/requests/': {
    wasm: ['serving', 'classifier', 'handlers', 'images', 'load', 'kept-inputs', 'sound-files'],
    webkit: ['sound-files'],
  },
  'src/page/workers/': { wasm: ['serving', 'healing', 'cleared', 'workers', 'leaks', 'chaos', 'soak'] },
  'src/page/selection/': { wasm: ['assess', 'backends', 'proof', 'precisions', 'optimized'], webgpu: ['backends'] },
  'src/page/sequences/': { wasm: ['voice', 'tracking'] },
  'src/page/streams/': { wasm: ['frames', 'streams'] },
  'src/page/sharing/': { wasm: ['sharing', 'chaos-sharing'] },
  'src/page/metrics/': { wasm: ['metrics'] },
  'src/page/ai-sdk/': { wasm: ['ai-sdk'], node: ['ai-sdk'] },
  'src/page/pipeline/': { node: ['pipeline'] },
  'src/page/devtools/': { wasm: ['devtools'] },
  'src/page/prompt-api/': { node: ['prompt-api'] },
  'src/page/frameworks/': { wasm: ['frameworks'] },
  'src/worker/': { wasm: ['workers', 'engines'] },
  'src/worker/host/': { wasm: ['handlers', 'workers', 'serving', 'proof', 'archives', 'kept-inputs'] },
  'src/worker/handlers/': {
    wasm: ['classifier', 'handlers', 'text', 'voice', 'explain', 'features', 'hugging-face', 'coverage', 'everywhere'],
    node: ['docs', 'repositories'],
  },
  'src/worker/tasks/': { node: ['docs', 'repositories'], wasm: ['coverage', 'everywhere'] },
  'src/worker/tasks/detection/': { wasm: ['detector'], node: ['docs', 'repositories'] },
  'src/worker/tasks/explain/': { wasm: ['explain'] },
  'src/worker/tasks/instances/': { node: ['docs', 'repositories'], wasm: ['segmenter', 'coverage'] },
  'src/worker/tasks/ocr/': { wasm: ['ocr'], node: ['docs'] },
  'src/worker/tasks/people/': { wasm: ['people'], node: ['people', 'people-sequences', 'poses'] },
  'src/worker/tasks/pictures/': { wasm: ['classifier', 'features', 'image-to-image'], node: ['docs', 'repositories'] },
  'src/worker/tasks/prompted/': { node: ['docs', 'repositories'], wasm: ['coverage'] },
  'src/worker/tasks/segmentation/': { wasm: ['segmenter'], node: ['docs', 'repositories'] },
  'src/worker/tasks/sounds/': { node: ['repositories'], wasm: ['coverage'] },
  'src/worker/tasks/speakers/': { node: ['repositories'], wasm: ['coverage'] },
  'src/worker/tasks/speech/': { wasm: ['voice'], node: ['repositories'] },
  'src/worker/tasks/texts/': { wasm: ['text'], node: ['docs', 'repositories'] },
  'src/worker/tasks/tracking/': { wasm: ['tracking'] },
  'src/worker/tasks/transcription/': { node: ['repositories'], wasm: ['coverage'] },
  'src/worker/tasks/writing/': { node: ['structured', 'repositories'], wasm: ['generation', 'pictures', 'recordings'] },
  'src/worker/tasks/voices/': { node: ['repositories'], wasm: ['coverage'] },
  'src/worker/tasks/zero-shot/': { node: ['repositories'], wasm: ['coverage'] },
  'src/worker/transforms/': { wasm: ['images', 'classifier', 'segmenter'], webgpu: ['gpu-images'] },
  'src/worker/images/': { wasm: ['images', 'classifier'], webkit: ['images', 'serving'], node: ['images'] },
  'src/worker/audio/': { wasm: ['voice', 'sound-files', 'long-recordings'] },
  'src/worker/text/': { node: ['endless-files'], wasm: ['text', 'hugging-face', 'generation'] },
  'src/worker/generation/': {
    node: ['structured'],
    wasm: ['generation', 'kept-tensors', 'pictures', 'recordings'],
    webgpu: ['generation', 'kept-tensors'],
  },
  'src/worker/outputs/': { wasm: ['detector', 'segmenter', 'ocr', 'text', 'real-models'] },
  'src/worker/engines/': {
    node: ['engines', 'interop-killed'],
    wasm: ['engines', 'backends', 'remote'],
    webgl: ['engines'],
    webgpu: ['engines', 'kept-tensors'],
    packaging: ['tfjs', 'remote'],
  },
  'src/worker/models/': {
    wasm: ['archives', 'downloads', 'hub', 'cache', 'two-layouts', 'hugging-face', 'fuzz'],
    node: ['docs', 'repositories'],
  },
  'src/worker/tensors/': { wasm: ['engines', 'features', 'kept-tensors'], webgpu: ['kept-tensors'] },
  'src/worker/libraries/': { wasm: ['engines', 'confined'], packaging: ['built', 'restricted', 'size', 'tfjs'] },
  'src/server/': { node: ['serve', 'interop', 'interop-archives'], wasm: ['model-server'] },
  'src/server/http/openai/': { node: ['openai', 'openai-refusals', 'langchain'], wasm: ['openai', 'langchain'] },
  'src/server/service-worker/': { wasm: ['service-worker', 'openai', 'interop-killed', 'interop-example'] },
  'src/server/node/': { node: ['load', 'serve', 'operate', 'images', 'soak'] },
  'src/tools/cli/': { node: ['command', 'inspect', 'serve', 'operate'], packaging: ['package'] },
  'src/tools/create/': { packaging: ['create'] },
  'src/tools/testing/': { packaging: ['testing'] },
  'src/tools/vite/': { packaging: ['built', 'dev-server', 'package'] },
  '': { unit: ['unit/repository'] },
  'examples/templates/': { unit: ['unit/tools/create', 'unit/repository'], packaging: ['create'] },
  'examples/kserve/': { unit: ['unit/repository'], wasm: ['interop-example'] },
  'examples/nginx/': { unit: ['unit/repository'], node: ['nginx'] },
  'demo/': { unit: ['unit/repository'], packaging: ['gallery', 'gallery-shell', 'gallery-dev'] },
  'public/models/': {
    unit: ['unit/repository'],
    wasm: ['real-models', 'classifier', 'ocr'],
    node: ['readme'],
    packaging: ['gallery'],
  },
  'scripts/build': { unit: ['unit/repository'], packaging: ['built', 'package', 'size'] },
  'scripts/vite/': { unit: ['unit/repository'], packaging: ['gallery', 'gallery-shell', 'gallery-dev'] },
  'scripts/site/': { unit: ['unit/repository'], packaging: ['site'] },
  'docs/': { unit: ['unit/repository', 'readme'] },
  'docs/caching.md': { unit: ['unit/repository', 'readme'], packaging: ['docs'] },
  'docs/hosting.md': { unit: ['unit/repository', 'readme'], packaging: ['docs'] },
  'docs/model-config.md': { unit: ['unit/repository', 'readme'], node: ['docs'] },
  'test/models/tasks/': { unit: ['unit/worker/host/nearest-handler.spec.ts'], wasm: ['coverage'] },
  'test/readme/': { unit: ['readme'], wasm: ['readme'], node: ['readme'] },
  'test/readme/from/': { unit: ['readme'], wasm: ['samples'] },
  'test/readme/methods/': { unit: ['readme', 'unit/repository'], wasm: ['methods'] },
  'test/readme/tasks/': { unit: ['readme'], wasm: ['samples'] },
  'test/unit/support/': { unit: ['unit'] },
};

const FOLDERS = { unit: 'test', node: 'test/node', packaging: 'test/packaging', webkit: 'test/webkit' };

/**
 * Returns the tests of a changed file, by project, as paths of specs or folders. What was generated is compared with
 * what it is made from, whose own change chooses other tests. A new source file has its unit tests: what uses it differs
 * as well.
 * @param {string} file relative to the repository, with slashes
 * @param {(path: string) => boolean} exists whether the repository has this file or folder
 * @param {{ readonly isNew?: boolean, readonly isGenerated?: boolean }} [about]
 * @returns {Record<string, readonly string[]>}
 */
export function testsOf(file, exists, { isNew = false, isGenerated = false } = {}) {
  if (isGenerated) return { unit: ['test/unit/repository'] };
  if (isNew && file.startsWith('src/')) return { unit: [mirrorOf(file, exists), 'test/unit/repository'] };
  // `npm run consumers` and `npm run webnn` are commands of their own.
  if (/^test\/(consumers|webnn)\//.test(file)) return {};
  if (file.endsWith('.spec.ts')) return exists(file) ? { [projectOf(file)]: [file] } : {};
  const path = Object.keys(SPECS)
    .filter((path) => file.startsWith(path))
    .reduce((longest, path) => (path.length > longest.length ? path : longest), '');
  const specs = Object.entries(SPECS[path]).map(([project, names]) => [
    project,
    names.map((name) => pathOf(project, name)),
  ]);
  return { ...(file.startsWith('src/') && { unit: [mirrorOf(file, exists)] }), ...Object.fromEntries(specs) };
}

/**
 * @param {string} project
 * @param {string} name
 */
export function pathOf(project, name) {
  return project === 'unit' ? `test/${name}` : `${FOLDERS[project] ?? 'test/browser'}/${name}.spec.ts`;
}

/**
 * Returns what of `coverage.spec.ts` a file of `test/models/tasks` is for, as a part of the titles of tests: a task, or
 * a repository. Undefined for any other file.
 * @param {string} file relative to the repository, with slashes
 */
export function coverageOf(file) {
  const [, task, repository] = /^test\/models\/tasks\/(?:(?:make\/)?(\w+)\.(?:json|py)$|([\w-]+)\/)/.exec(file) ?? [];
  if (task !== undefined) return ` ${task}: `;
  return repository === undefined ? undefined : `\\(${repository}\\)`;
}

/** Returns the project that a spec runs in; a browser spec runs on WASM. */
function projectOf(spec) {
  if (/^test\/(unit|readme)\//.test(spec)) return 'unit';
  return ['node', 'packaging', 'webkit'].find((project) => spec.startsWith(`${FOLDERS[project]}/`)) ?? 'wasm';
}

/** Returns the folder of a source file's unit tests: the mirror of its own folder, or of the nearest one above that has any. */
function mirrorOf(file, exists) {
  const parts = file.split('/').slice(1, -1);
  while (parts.length > 0 && !exists(`test/unit/${parts.join('/')}`)) parts.pop();
  return ['test/unit', ...parts].join('/');
}
