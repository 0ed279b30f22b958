/** The public names of `tabserve/node`: the page's and the worker's in one, for Node. */
export {
  connect,
  load,
  type NodeConnectOptions,
  type NodeLoadOptions,
  type NodeOptions,
  type ThreadFactory,
} from './server/node/connect.js';
export { nodeListener } from './server/node/http/listener.js';
export { ThreadWorker } from './server/node/thread-worker.js';
export type { Client } from './page/client/client.js';
export { PredictionError, TabServeError, type ErrorCode, type ErrorStage } from './contract/errors.js';
