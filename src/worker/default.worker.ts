import { allEngines } from './engines/index.js';
import { loadHandler } from './handlers/registry.js';
import { serve } from './host/serve.js';

serve({ engines: allEngines, handlerClass: loadHandler });
// Every built-in handler needs it. It is loaded while the page says which model is wanted; whoever needs it reports a
// failure. An import() at the top level would make V8 parse the whole script once more, to find the line.
queueMicrotask(() => void import('./handlers/base-handler.js').catch(() => {}));
