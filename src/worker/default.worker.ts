import { allEngines } from '../engines/index.js';
import { loadHandler } from '../handlers/registry.js';
import { serve } from './serve.js';

serve({ engines: allEngines, handlerClass: loadHandler });
