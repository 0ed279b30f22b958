/** What rolldown knows about the modules of a bundle. */
interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/**
 * What the first script of a worker has, with all that it imports: what every worker needs, and what an image
 * classifier on ONNX Runtime needs, as most archives do. The modules of lazy parts that name files are here too:
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
  'worker/tasks/pictures/image-classifier',
  'worker/handlers/several-labels',
  ...['jinja', 'onnx-webgl', 'tokenizers', 'yaml', 'zip'].map((name) => `worker/libraries/${name}`),
  // Small, and needed by several parts.
  'shared/check-keys',
  'worker/handlers/embed',
  'worker/handlers/state-schema',
  'worker/handlers/workflow-handler',
  'worker/tasks/explain/score-variants',
  'worker/tasks/explain/target',
  'worker/outputs/maps',
];

/** The other scripts, each with the modules in it that are not in the first one. A module is in the first that fits. */
const PARTS: readonly (readonly [name: string, modules: RegExp])[] = [
  [
    'zero-shot',
    /^worker\/(handlers\/(label-(texts|vectors)|zero-shot-(image|object)|image-text)|outputs\/detection\/text-queries)/,
  ],
  ['images', /^(worker\/images\/|shared\/is-a\.)/],
  ['detection', /^worker\/(handlers\/(object-detector|image-boxes)|outputs\/(detection\/|nms))/],
  ['tracking', /^worker\/(handlers\/object-tracker|outputs\/tracking\/)/],
  [
    'people',
    /^(worker\/(handlers\/(face|hand|pose|landmark)-|outputs\/people\/|transforms\/crop)|shared\/face-points)/,
  ],
  [
    'segmentation',
    /^worker\/(handlers\/(image-segmenter|image-encoder|prompt|background-remover|depth-estimator)|outputs\/(body-mask|interpolate|segment|class-map|bicubic|depth|foreground|prompted|runs))/,
  ],
  ['instances', /^worker\/(handlers\/instance-|outputs\/(queries|instance-))/],
  ['speech', /^worker\/(handlers\/speech-(to-text|input)|audio\/(fourier|log-mel)|generation\/speech\/)/],
  [
    'generation',
    /^worker\/(handlers\/(text-generator|text-to-text|generation-handler|encoder-decoder|image-to-text)|generation\/|engines\/onnx\/kept|tensors\/(gpu-memory|assemble|read|take))/,
  ],
  ['pictures', /^worker\/(handlers\/image-|outputs\/(picture|tiles))/],
  [
    'text',
    /^worker\/(handlers\/(text-(handler|input|classifier|feature|reranker)|fill-mask|zero-shot-text|task-tokens|token-classifier|question-answerer|explain\/texts)|outputs\/(dense|entities|answers)|text\/)/,
  ],
  ['ocr', /^worker\/(handlers\/text-|outputs\/ocr\/)/],
  ['audio', /^(worker\/(handlers\/(audio|voice|silero|speech)|audio\/|outputs\/(speech|ctc-text))|contract\/audio)/],
  ['explain', /^worker\/handlers\/explain\//],
  ['gpu', /^worker\/(handlers\/gpu-|transforms\/gpu\/|engines\/onnx\/(web|device|placement))/],
  ['tensorflow', /^worker\/engines\/tfjs\//],
  ['remote', /^(worker\/engines\/remote\/|shared\/(open-inference\/|json-cost))/],
  ['packed', /^worker\/models\/sources\/|modern-tar/],
  ['repository', /^worker\/models\/hugging-face\//],
  ['workflow', /^worker\/((models|host)\/(workflow|nodes|node-precision|war)\.|handlers\/graph-workflow)/],
  ['hash', /@noble/],
  ['rare', /^worker\/(models\/(yaml|onnx)|host\/(describe|nearest)|engines\/onnx\/(adapt|widen)|outputs\/ultralytics)/],
];

/**
 * Returns rolldown's `codeSplitting` for a bundle with the worker. Left to itself, a bundler makes a script of each
 * module that two lazy ones share, and the worker of an image classifier makes 22 requests, some of them only when an
 * earlier one has been answered. This makes one script of what nearly every first visit needs, and one of each part
 * that fewer need.
 * @param root the folder of TabServe's modules, with slashes, and with one at its end
 */
export function workerChunks(root: string): {
  readonly includeDependenciesRecursively: false;
  readonly groups: {
    readonly debugName: string;
    readonly name: (id: string, modules: Modules) => string | null;
  }[];
} {
  // Each bundle has one object for its modules.
  const known = new WeakMap<Modules, ReadonlySet<string>>();
  const chunkOf = (id: string, modules: Modules): string | null => {
    const first = known.get(modules) ?? firstOf(root, modules);
    known.set(modules, first);
    if (first.has(id)) return 'base';
    const path = id.startsWith(root) ? id.slice(root.length) : id;
    return PARTS.find(([, fits]) => fits.test(path))?.[0] ?? null;
  };
  return { includeDependenciesRecursively: false, groups: [{ debugName: 'tabserve', name: chunkOf }] };
}

/** Returns the modules of the first script, by their ids: those of the package, or of its sources. */
function firstOf(root: string, modules: Modules): ReadonlySet<string> {
  const all = new Set(FIRST.flatMap((name) => [`${root}${name}.js`, `${root}${name}.ts`]));
  for (const id of all) for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  return all;
}
