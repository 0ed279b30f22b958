/** Serves the language model. A worker of the page's own, so that the page can kill it. */
import { expose, TextGenerator } from '../../src/worker.js';

expose(TextGenerator);
