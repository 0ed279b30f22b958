/** The page's public names: those of `tabserve/core`, and the built-in worker. */
export { connect, type ConnectOptions } from './page/client/connect.js';
export { load, type LoadOptions } from './page/client/connect.js';
export { assess, type AssessOptions } from './page/client/assess.js';
export * from './core.js';
