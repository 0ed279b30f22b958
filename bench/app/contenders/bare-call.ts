/**
 * No contender: the same worker, handler and message as ours, by comlink alone: no supervisor, nothing kept for another
 * try.
 */
import { Connection } from '../../../src/page/workers/connection.ts';
import type { Envelope, HandleAnswer } from '../../../src/contract/wire.ts';
import { CHANNELS, HEIGHT, MODEL_URL, WIDTH, type Answer } from '../model.ts';
import { CONFIG, makeWorker } from './tabserve.ts';

export async function openBareCall(): Promise<(pixels: Float32Array) => Promise<Answer>> {
  const connection = await Connection.start(makeWorker, { signal: undefined, startupTimeout: 60, onEvent: () => {} });
  const archive = await connection.call((worker) =>
    worker.load({
      source: new URL(MODEL_URL, location.href).href,
      config: CONFIG,
      handler: 'image_classifier',
      download: {},
    }),
  );
  const start = { candidate: 'onnx/wasm', assets: undefined, download: {} } as const;
  const loaded = await connection.call((worker) => worker.loadModel(archive, start));
  await connection.call((worker) =>
    worker.open({ ...start, archive: loaded, handler: 'image_classifier', isSpared: true }),
  );
  let calls = 0;
  return async (pixels) => {
    const data = pixels.slice();
    const call = {
      id: String(++calls),
      request: 'predict' as const,
      ids: ['0'],
      params: [{}],
      rows: [{ data, dims: [CHANNELS, HEIGHT, WIDTH] }],
    };
    const { rows } = await connection.call<HandleAnswer>((worker) => worker.handle(call, [data.buffer]));
    return (rows[0] as Extract<Envelope<Answer>, { ok: true }>).value;
  };
}
