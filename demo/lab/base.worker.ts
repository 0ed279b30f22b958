/** Serves a model without pre- and postprocessing, to measure it. */
import { BaseHandler, expose } from '../../src/worker.js';

expose(BaseHandler);
