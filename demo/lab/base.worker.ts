/** Serves a model's bare tensors, for measuring. */
import { BaseHandler, expose } from '../../src/worker.js';

expose(BaseHandler);
