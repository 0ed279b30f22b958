/** The page's public names: those of `tabserve/core`, and the built-in worker. */
export { connect, type ConnectOptions } from './page/client/connect.js';
export { load, type LoadOptions } from './page/client/connect.js';
export * from './core.js';
