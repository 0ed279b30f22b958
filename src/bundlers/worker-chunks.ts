/** Modules of a worker that become one script, by their paths in the folder of TabServe's modules. */
interface Chunk {
  readonly name: string;
  readonly modules: RegExp;
}

/**
 * The scripts of the built-in worker that several models need, beside its first one. Left to itself, a bundler makes a script of each module that two lazy ones share, and
 * the worker of an image classifier makes 22 requests, some of them only when an earlier one has been answered.
 */
const CHUNKS: readonly Chunk[] = [
  {
    // What the first script shares with all others.
    name: 'base',
    modules:
      /^(?:contract\/(?:errors|describe-value|limits)|libraries\/load|shared\/(?:buffers|protobuf(?:-writer)?))\.[jt]s$/,
  },
  {
    // What every model needs, whatever its engine and its handler.
    name: 'model',
    modules:
      /^(?:engines\/(?:session|lock|feeds|failure)|tensors\/gpu-tensor|handlers\/(?:base-handler|staged-handler|run-model|batch-contract|row|config|explain\/options)|outputs\/(?:labels|maps|rows|scores|sigmoid|softmax|top-k|classification)|tensors\/(?:tensors|check-equal|concatenate)|shared\/wasm-kernel)\.[jt]s$/,
  },
  {
    // What every model that takes images needs, and the handler that most of them have.
    name: 'images',
    modules:
      /^(?:transforms\/[\w.-]+|handlers\/(?:vision-handler|vision-params|example-picture|gpu-access|images-ahead|pixel-mask|image-tensor-input|placements|image-classifier)|shared\/round)\.[jt]s$/,
  },
];

/**
 * Returns rolldown's `codeSplitting` for a bundle with the worker.
 * @param root the folder of TabServe's modules, with slashes, and with one at its end
 */
export function workerChunks(root: string): {
  readonly includeDependenciesRecursively: false;
  readonly groups: { readonly name: string; readonly test: (id: string) => boolean }[];
} {
  return {
    // What else these modules import is in the worker's first script.
    includeDependenciesRecursively: false,
    groups: CHUNKS.map(({ name, modules }) => ({
      name,
      test: (id) => {
        const path = id.replaceAll('\\', '/').split('?', 1)[0]!;
        return path.startsWith(root) && modules.test(path.slice(root.length));
      },
    })),
  };
}
