/** The page's public names: those of `tabserve/core`, and the built-in worker. */
export { connect, type ConnectOptions } from './client/connect.js';
export { load, type LoadOptions } from './client/load.js';
export * from './core.js';
