/**
 * The model of the first page: it cuts a person out of a frame, and its worker can be killed. A chunk of its own,
 * because it brings TabServe.
 */
import { onUpload } from './uploads.js';
import { connect, paintMask, type Backend, type SoftMask } from '../../src/index.js';
import type { ImageSegmenter } from '../../src/worker-core.js';

export interface Segmenter {
  /** Where it runs, e.g. `tfjs/webgl`. */
  readonly backend: string;
  /** Returns the person of a frame as a picture of the model's size, opaque where the person is. */
  cut(frame: ImageBitmap): Promise<ImageData>;
  /** Ends the worker, as a crash would. */
  kill(): void;
  dispose(): void;
}

export interface SegmenterEvents {
  /** `loaded`: bytes of the model and its engine that have arrived; `total`: of how many, if that is known. */
  progress(loaded: number, total: number | undefined): void;
  /** Is called with the bytes that the page and its workers have uploaded. */
  uploaded(bytes: number): void;
  /** Is called when another worker runs the model, after one was lost. */
  recovered(): void;
  /** Is called when nothing can run the model any longer. */
  failed(error: unknown): void;
}

/** Opens the model. @throws a `TabServeError`, if it cannot be opened */
export async function openSegmenter(signal: AbortSignal, events: SegmenterEvents): Promise<Segmenter> {
  let worker: Worker | undefined;
  /** Bytes by the script that sent them: the page, and each worker. */
  const uploads = new Map<object, number>();
  const uploaded = (by: object, bytes: number): void => {
    uploads.set(by, bytes);
    events.uploaded([...uploads.values()].reduce((sum, one) => sum + one, 0));
  };
  const stop = onUpload((bytes) => uploaded(globalThis, bytes));

  const client = connect<ImageSegmenter>(
    () => {
      const own = (worker = new Worker(new URL('./sample.worker.ts', import.meta.url), { type: 'module' }));
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', ({ data }: MessageEvent<number>) => uploaded(own, data));
      port1.start();
      // Its first message says that it listens.
      own.addEventListener('message', () => own.postMessage('uploads', [port2]), { once: true });
      return own;
    },
    { model: 'models/selfie/' },
  );
  const dispose = (): void => {
    stop();
    void client.dispose();
  };
  client.on('recover', events.recovered);
  client.on('fail', events.failed);
  try {
    await client.initialize({ signal, onProgress: ({ overall }) => events.progress(overall.loaded, overall.total) });
  } catch (error) {
    dispose();
    throw error;
  }
  return {
    get backend() {
      const { engine, name } = client.backend as Backend;
      return `${engine}/${name}`;
    },
    async cut(frame) {
      const mask = (await client.predict(frame, { params: { result: 'mask', size: 'model' } })) as SoftMask;
      return sharpened(paintMask(mask));
    },
    kill: () => worker?.terminate(),
    dispose,
  };
}

/** Makes what is hardly a person's vanish, and what is mostly a person's opaque: alpha from 0.35..0.75 to 0..1. */
function sharpened(image: ImageData): ImageData {
  for (let i = 3; i < image.data.length; i += 4) image.data[i] = (image.data[i]! - 0.35 * 255) / 0.4;
  return image;
}
