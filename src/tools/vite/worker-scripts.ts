/** What rolldown knows about the modules of a bundle. */
interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/**
 * What the first script of a worker has, with all that it imports: what every worker needs, and what an image
 * classifier on ONNX Runtime needs, as most archives do. The modules of lazy scripts that name files are here too:
 * `scripts/build/parts.mjs` says why.
 */
export const FIRST = [
  'worker/host/serve',
  'worker/engines/index',
  'worker/engines/device-loss',
  'worker/engines/onnx/engine',
  'worker/engines/onnx/webgpu',
  'worker/engines/onnx/webgpu-jspi',
  'worker/handlers/registry',
  'worker/handlers/base-handler',
  'worker/handlers/several-labels',
  'worker/tasks/pictures/image-classifier',
  ...['mediabunny', 'onnx-webgl', 'yaml', 'zip'].map((name) => `worker/libraries/${name}`),
  // Small, and needed by several parts.
  'shared/check-keys',
  'worker/handlers/embed',
  'worker/handlers/schemas',
  'worker/handlers/workflow-handler',
  'worker/outputs/maps',
  'worker/outputs/runs',
];

/** A folder of tasks is a script. */
const TASK = /^worker\/tasks\/([^/]+)\//;

/**
 * The scripts of the other modules that are not in the first one, by how their paths begin; the longest fits. What
 * several tasks share is in the script of the task that needs most of it.
 */
export const SHARED: Readonly<Record<string, string>> = {
  'worker/images/': 'images',
  'shared/is-a.': 'images',
  'worker/outputs/': 'segmentation',
  'worker/outputs/boxes/': 'detection',
  'worker/handlers/detection-handler.': 'detection',
  'worker/handlers/image-boxes.': 'detection',
  'worker/outputs/tracking/': 'tracking',
  'worker/outputs/picture.': 'pictures',
  'worker/outputs/ultralytics.': 'rare',
  'worker/transforms/crop': 'people',
  'shared/face-points.': 'people',
  'shared/spoken-turns.': 'speakers',
  'worker/text/': 'texts',
  'worker/handlers/text-': 'texts',
  'worker/handlers/text-vectors.': 'zero-shot',
  'worker/handlers/label-texts.': 'zero-shot',
  'worker/audio/': 'speech',
  'worker/audio/fourier.': 'sounds',
  'worker/audio/decibel-mel.': 'sounds',
  'worker/audio/filter-bank.': 'sounds',
  'worker/audio/gemma4-mel.': 'sounds',
  'worker/audio/granite-mel.': 'sounds',
  'worker/audio/log-mel.': 'sounds',
  'worker/audio/mel-': 'sounds',
  'worker/audio/nemo-mel.': 'sounds',
  'worker/handlers/log-mel-config.': 'sounds',
  'worker/handlers/sound-': 'sounds',
  'contract/audio.': 'speech',
  'shared/audio-format.': 'speech',
  'worker/handlers/audio-handler.': 'speech',
  'worker/handlers/recording': 'speech',
  'worker/handlers/live-speech.': 'speech',
  'worker/outputs/live-words.': 'speech',
  'worker/handlers/speech-files.': 'speech',
  'shared/wav.': 'voices',
  'worker/generation/': 'writing',
  'worker/generation/jinja/': 'jinja',
  'worker/generation/jinja/characters.': 'writing',
  'worker/generation/reasoning.': 'jinja',
  'worker/generation/tool-calls/': 'jinja',
  'worker/handlers/generation-handler.': 'writing',
  'worker/handlers/encoder-decoder-handler.': 'writing',
  'worker/engines/onnx/kept': 'writing',
  'worker/tensors/': 'writing',
  'worker/handlers/gpu-': 'gpu',
  'worker/transforms/gpu/': 'gpu',
  'worker/engines/onnx/': 'gpu',
  'worker/engines/tfjs/': 'tensorflow',
  'worker/engines/remote/': 'remote',
  'shared/open-inference/': 'remote',
  'shared/open-inference/fault.': 'writing',
  'shared/open-inference/tensor-json.': 'writing',
  'shared/chat.': 'writing',
  'shared/json-cost.': 'writing',
  'worker/models/sources/': 'packed',
  'shared/hub-listing.': 'packed',
  'worker/models/hugging-face/': 'repository',
  'worker/models/hugging-face/uncompared.': 'workflow',
  'worker/tasks/compared.': 'repository',
  'worker/models/workflow.': 'workflow',
  'worker/models/nodes.': 'workflow',
  'worker/models/node-precision.': 'workflow',
  'worker/models/war.': 'workflow',
  'worker/host/nodes.': 'workflow',
  'worker/handlers/graph-workflow.': 'workflow',
  'worker/handlers/node-batches.': 'workflow',
  'worker/models/yaml.': 'rare',
  'worker/engines/onnx/lazy-bytes.': 'rare',
  'worker/models/onnx/': 'rare',
  'worker/host/describe.': 'rare',
  'worker/host/nearest-handler.': 'rare',
  'worker/host/file-handler.': 'rare',
};

/** The scripts of packages, by their names. */
const PACKAGES: Readonly<Record<string, string>> = { 'modern-tar': 'packed', '@noble/': 'hash' };

/**
 * Returns rolldown's `codeSplitting` for a bundle with the worker. Left to itself, a bundler makes a script of each
 * module that two lazy ones share, and the worker of an image classifier makes 22 requests, some of them only when an
 * earlier one has been answered. This makes one script of what nearly every first visit needs, and one of each part
 * that fewer need.
 * @param root the folder of TabServe's modules, with slashes, and with one at its end
 */
export function workerScripts(root: string): {
  readonly includeDependenciesRecursively: false;
  readonly groups: {
    readonly debugName: string;
    readonly name: (id: string, modules: Modules) => string | null;
  }[];
} {
  // Each bundle has one object for its modules.
  const known = new WeakMap<Modules, ReadonlySet<string>>();
  const nameOf = (id: string, modules: Modules): string | null => {
    const first = known.get(modules) ?? firstOf(root, modules);
    known.set(modules, first);
    if (first.has(id)) return 'base';
    if (!id.startsWith(root)) return PACKAGES[Object.keys(PACKAGES).find((name) => id.includes(name)) ?? ''] ?? null;
    return scriptOf(id.slice(root.length)) ?? null;
  };
  return { includeDependenciesRecursively: false, groups: [{ debugName: 'tabserve', name: nameOf }] };
}

/** Returns the script of a module that is not in the first one; undefined for what the bundler is to decide. */
export function scriptOf(path: string): string | undefined {
  const folder = TASK.exec(path)?.[1];
  if (folder !== undefined) return folder;
  const longest = Object.keys(SHARED)
    .filter((start) => path.startsWith(start))
    .reduce((best, start) => (start.length > best.length ? start : best), '');
  return SHARED[longest];
}

/** Returns the modules of the first script, by their ids: those of the package, or of its sources. */
function firstOf(root: string, modules: Modules): ReadonlySet<string> {
  const all = new Set(FIRST.flatMap((name) => [`${root}${name}.js`, `${root}${name}.ts`]));
  for (const id of all) for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  return all;
}
