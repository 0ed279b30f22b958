/** The page of the first answer in an app that uses the published package and Vite as they are, without our plugin. */
import { connect } from '../../../dist/index.js';
import { spansSince } from '../first/spans.ts';
import { SESSION_OPTIONS, THREADS } from '../model.ts';

const first = {
  /**
   * Opens a model, and predicts one row. The built-in worker tells nothing of what it does.
   * @param {import('../first/main.ts').FirstRequest} request
   */
  async ours({ model, handler, backends, dims }) {
    const started = performance.now();
    const client = connect({
      model,
      ...(handler !== undefined && { handler }),
      ...(backends && { backends }),
      config: { engine: { threads: THREADS, graphOptimizationLevel: SESSION_OPTIONS.graphOptimizationLevel } },
    });
    await client.initialize();
    await client.predict({ data: new Float32Array(dims.reduce((product, size) => product * size, 1)), dims });
    return spansSince(started);
  },
};

Object.assign(globalThis, { first });
