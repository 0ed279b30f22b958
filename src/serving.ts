/**
 * A model server: named models with versions, and an HTTP front door on `Request` and `Response`. It runs on a page and
 * under Node.
 */
export { ModelServer } from './server/model-server.js';
export type {
  DescribedModel,
  ListedModel,
  LoadModel,
  LoadOptionsOf,
  ModelServerOptions,
  FailedModel,
  RegisteredLocation,
  RegisteredModel,
  RegisterOptions,
} from './server/options.js';
export type { Shadow, ShadowOptions } from './server/shadow.js';
export type { ShadowReport } from './server/shadow-report.js';
export type { ManagementOptions } from './server/http/management.js';
export type { ServedClient, ServedDescription, ServedRequestOptions } from './server/served-client.js';
