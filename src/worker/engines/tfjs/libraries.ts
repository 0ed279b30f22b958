import type * as Layers from '@tensorflow/tfjs-layers';
import { load as loadCore, type TensorFlowCore } from '../../libraries/tfjs-core.js';
import { load as loadLayersLibrary } from '../../libraries/tfjs-layers.js';
import type { LoadWith } from '../../libraries/load.js';

/** TensorFlow.js without a backend. */
export interface TensorFlow extends TensorFlowCore {
  /** Loads the library for layers models, which few models need. */
  readonly layers: () => Promise<Pick<typeof Layers, 'loadLayersModel'>>;
}

/** TensorFlow.js, and what the library of one of its backends exports. */
export interface Libraries<Library = unknown> {
  readonly tensorflow: TensorFlow;
  readonly library: Library;
}

/**
 * Loads TensorFlow.js and one of its backends, side by side. The worker's first script has this code, because these
 * files are large, so that they load at the same time as the engine's own scripts.
 * @param assets folder in which the app has the engines' files, if it names one
 * @returns a promise whose rejection, `worker-failed`, may stay unhandled: the engine's scripts, which await it, may
 *   fail first
 */
export function loadTensorFlow<Library>(
  assets: string | undefined,
  loadBackend: LoadWith<TensorFlowCore['core'], Library>,
): Promise<Libraries<Library>> {
  const loading = loadCore(assets);
  const core = loading.then((loaded) => loaded.core);
  // The failure of `loading` is reported.
  core.catch(() => {});
  const libraries = Promise.all([loading, loadBackend(assets, core)]).then(([loaded, library]) => ({
    tensorflow: { ...loaded, layers: () => loadLayersLibrary(assets, core) },
    library,
  }));
  libraries.catch(() => {});
  return libraries;
}
