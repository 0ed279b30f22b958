/** A model server: named models with versions, and an HTTP front door on `Request` and `Response`. It runs on a page and under Node. */
export { ModelServer } from './serving/model-server.js';
export type {
  DescribedModel,
  ListedModel,
  LoadModel,
  LoadOptionsOf,
  ModelServerOptions,
  RegisteredModel,
  RegisterOptions,
} from './serving/options.js';
export type { Shadow, ShadowOptions, ShadowReport } from './serving/shadow.js';
export type { ManagementOptions } from './serving/http/management.js';
export type { ServedClient, ServedDescription, ServedRequestOptions } from './serving/served-client.js';
