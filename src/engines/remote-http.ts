import type { EngineLoader } from './engine.js';

/** Asks the server of models that the app has named. */
export const remoteHttp: EngineLoader = async (environment) => (await import('./remote/engine.js')).start(environment);
