import { loadScript } from '../../shared/load-script.js';
import type { EngineLoader } from './engine.js';

/** Loads the engine of the server that the app has named. */
export const remoteHttp: EngineLoader = async (environment) => {
  const start = await loadScript(async () => (await import('./remote/engine.js')).start);
  return await start(environment);
};
