import { expose } from 'comlink';
import { type ConnectMessage, type Envelope, PROTOCOL } from '../../../src/contract/wire.ts';
import type { Archive } from '../../../src/contract/archive.ts';
import { cloneSafe } from '../../../src/worker/host/endpoint.ts';
import type { Engine, Engines } from '../../../src/worker/engines/engine.ts';
import { servingClass } from '../../../src/worker/host/expose.ts';
import { Host } from '../../../src/worker/host/host.ts';
import type { HandlerClass } from '../../../src/contract/handler.ts';

/** An archive with a model. */
export const archive: Archive = {
  url: 'http://127.0.0.1/model.onnx',
  manifest: { model: { modelName: 'model' } },
  config: {},
  models: { onnx: 'model.onnx' },
  files: { 'model.onnx': new Blob(['model']) },
  golden: [],
  integrity: {},
} as unknown as Archive;

export interface HostWorkerOptions {
  /** @default one with a model */
  readonly archive?: Archive;
  /** Opens a model. @default one without inputs and outputs */
  readonly open?: Engine['open'];
  /** @default ONNX Runtime's WASM, which opens models with `open` */
  readonly engines?: Engines;
}

/**
 * A worker under Node with a handler of the test's own. Page and worker run whole, but for downloads and the engine.
 */
export class HostWorker extends EventTarget {
  readonly #handlerClass: HandlerClass;
  readonly #options: HostWorkerOptions;
  #ports: readonly MessagePort[] = [];

  constructor(handlerClass: HandlerClass, options: HostWorkerOptions = {}) {
    super();
    this.#options = options;
    this.#handlerClass = handlerClass;
    queueMicrotask(() =>
      this.dispatchEvent(new MessageEvent('message', { data: { tabserve: 'ready', protocol: PROTOCOL } })),
    );
  }

  postMessage({ calls, events }: ConnectMessage): void {
    this.#ports = [calls, events];
    const session = { inputs: [], outputs: [], run: async () => ({}), [Symbol.asyncDispose]: async () => {} };
    const open: Engine['open'] = this.#options.open ?? (async () => session);
    const engine = { version: '0', threads: 1, memory: () => 0, open };
    const host = new Host({
      engines: this.#options.engines ?? { 'onnx/wasm': async () => engine },
      ...servingClass(this.#handlerClass),
      emit: (event) => events.postMessage(event),
      sendChunk: (message, list) => calls.postMessage(message, list),
    });
    const ok = async (): Promise<Envelope<Archive>> => ({ ok: true, value: this.#options.archive ?? archive });
    // `prepare` starts an engine while `load` reads the archive, which it does not here.
    expose(Object.assign(host, { load: ok, loadModel: ok, prepare: () => {} }), cloneSafe(calls));
  }

  /** Ends it, as a crash would. */
  crash(): void {
    this.dispatchEvent(Object.assign(new Event('error'), { message: 'it crashed' }));
  }

  terminate(): void {
    for (const port of this.#ports) port.close();
  }
}
