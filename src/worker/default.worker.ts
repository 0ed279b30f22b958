import { allEngines } from '../engines/index.js';
import { loadHandler } from '../handlers/registry.js';
import { serve } from './expose.js';

serve({ engines: allEngines, handlerClass: loadHandler });
