import { loadHandler } from '../../worker/handlers/registry.js';
import { nodeEngines } from './engines.js';
import { serveThread } from './serve-thread.js';

serveThread({ engines: nodeEngines, handlerClass: loadHandler });
