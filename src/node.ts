/** The public names of `tabserve/node`: the page's and the worker's in one, for Node. */
export {
  connect,
  load,
  type NodeConnectOptions,
  type NodeLoadOptions,
  type NodeOptions,
  type ThreadFactory,
} from './node/connect.js';
export { ThreadWorker } from './node/thread-worker.js';
export type { Client } from './client/client.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './contract/errors.js';
