import { expose } from 'comlink';
import type { Archive } from '../../../src/contract/archive.ts';
import type { Probe } from '../../../src/contract/backends.ts';
import {
  PROTOCOL,
  type ConnectMessage,
  type Envelope,
  type LoadRequest,
  type WorkerApi,
} from '../../../src/contract/wire.ts';

const probe: Probe = {
  webgpu: { available: false, reason: 'none under Node' },
  webgl: { available: false, reason: 'none under Node' },
  webnn: { available: false, reason: 'none under Node' },
  wasm: { available: true, simd: true, jspi: false, threads: false },
  crossOriginIsolated: false,
  cores: 2,
};

const archive: Archive = {
  url: 'http://127.0.0.1/model.onnx',
  manifest: { model: { modelName: 'model' } },
  config: {},
  models: { onnx: 'model.onnx' },
  files: {},
  golden: [],
  integrity: {},
} as unknown as Archive;

function ok<T>(value: T): Promise<Envelope<T>> {
  return Promise.resolve({ ok: true, value });
}

/** A worker under Node that answers each row with itself: the page's side runs whole, and no browser is needed. */
export class EchoWorker extends EventTarget {
  readonly #api: Partial<Record<keyof WorkerApi, (...args: never[]) => unknown>> = {
    probe: () => ok({ probe, built: ['onnx/wasm'] }),
    load: ({ config }: LoadRequest) => ok({ ...archive, config: config ?? {} }),
    loadModel: (known: Archive) => ok(known),
    open: () => ok({ threads: 1, version: '0', golden: 0, error: 0, suspicion: undefined }),
    handle: ({ rows }: { rows: readonly unknown[] }) =>
      ok({ rows: rows.map((value) => ({ ok: true, value })), timings: {}, handlerTime: 0, memory: 0 }),
    stored: () => ok(undefined),
    describe: () => ok({ handler: 'echo' }),
    ping: () => ok(undefined),
    cancel: () => {},
    forget: () => {},
    more: () => {},
  };
  #ports: readonly MessagePort[] = [];

  constructor() {
    super();
    queueMicrotask(() =>
      this.dispatchEvent(new MessageEvent('message', { data: { tabserve: 'ready', protocol: PROTOCOL } })),
    );
  }

  postMessage({ calls, events }: ConnectMessage): void {
    this.#ports = [calls, events];
    const api = Object.entries(this.#api).map(([name, method]) => [
      name,
      (...args: never[]) => this.answer(method, args),
    ]);
    expose(Object.fromEntries(api), calls);
  }

  protected answer(method: (...args: never[]) => unknown, args: never[]): unknown {
    return method(...args);
  }

  terminate(): void {
    for (const port of this.#ports) port.close();
  }
}
