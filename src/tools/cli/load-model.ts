import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadObserved, type NodeLoadOptions, type NodeModelClient } from '../../server/node/connect.js';
import { wrongFlag } from './flags.js';

/** Loads an archive's model, by its path or URL. */
export type LoadModel = (model: string, options: NodeLoadOptions<never>) => Promise<NodeModelClient>;

/**
 * Returns what loads models.
 * @param options.worker the path of a worker's module, whose handler serves every model; undefined for the built-in ones
 * @param options.onClient is called with each client before it loads
 * @throws `model-config` if there is no such file
 */
export function modelLoader({
  worker,
  onClient,
}: {
  readonly worker?: string | undefined;
  readonly onClient: (model: string, client: NodeModelClient) => void;
}): LoadModel {
  const script = worker === undefined ? undefined : scriptOf(worker);
  return (model, options) => loadObserved(model, options, { script, onClient: (client) => onClient(model, client) });
}

/** @throws `model-config` if there is no such file */
function scriptOf(worker: string): URL {
  if (statSync(worker, { throwIfNoEntry: false })?.isFile()) return pathToFileURL(resolve(worker));
  throw wrongFlag('worker', "the file of a worker's module, which calls expose of tabserve/worker", worker);
}
