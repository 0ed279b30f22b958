/** The built-in worker, as `default.worker.ts`, which also tells what it has measured. */
import { allEngines } from '../../../src/worker/engines/index.ts';
import { loadHandler } from '../../../src/worker/handlers/registry.ts';
import { serve } from '../../../src/worker/host/serve.ts';
import { spans } from './spans.ts';

addEventListener('message', ({ data }) => data === 'spans' && postMessage({ spans: spans() }));
serve({ engines: allEngines, handlerClass: loadHandler });
queueMicrotask(() => void import('../../../src/worker/handlers/base-handler.js').catch(() => {}));
