/** A model server: named models with versions, and an HTTP front door on `Request` and `Response`. It runs on a page and under Node. */
export {
  ModelServer,
  type DescribedModel,
  type ListedModel,
  type ModelServerOptions,
  type RegisteredModel,
  type RegisterOptions,
} from './serving/model-server.js';
export type { ManagementOptions } from './serving/http/management.js';
export type { ServedClient, ServedDescription, ServedRequestOptions } from './serving/served-client.js';
