import { load, type Client, type Progress } from '../../src/index.js';
import { hostModels, type ModelHost } from '../../src/service-worker.js';
import { ModelServer } from '../../src/serving.js';
import { MODELS, TAB } from './models.js';

/** The versions that a visitor can swap: the same digits, in the formats of both engines. */
const VERSIONS: Readonly<Record<string, 'onnx' | 'tfjs'>> = { '1.0': 'onnx', '2.0': 'tfjs' };

/** What this tab hosts. */
export interface Hosted {
  readonly version: string;
  readonly where: string;
}

/** Hosts the model in this tab, one version at a time. */
export class Hosting {
  /** The tab's name in its responses. */
  readonly tab = crypto.randomUUID();
  readonly #server = new ModelServer();
  #host: ModelHost | undefined;
  #current: { readonly version: string; readonly client: Client } | undefined;

  get hosted(): Hosted | undefined {
    const backend = this.#current?.client.backend;
    return this.#host && backend && { version: this.#current!.version, where: `${backend.engine}/${backend.name}` };
  }

  /** Loads the model, and begins to answer. */
  async start(signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<void> {
    await this.#serve(Object.keys(VERSIONS)[0]!, signal, onProgress);
    this.#host = hostModels({
      fetch: async (request) => {
        const response = await this.#server.fetch(request);
        response.headers.set(TAB, this.tab);
        return response;
      },
    });
    await this.#host.ready;
  }

  /** Loads the other version beside the current one, makes it the default, and lets the current one finish. */
  async swap(signal: AbortSignal): Promise<void> {
    const before = this.#current!;
    const next = Object.keys(VERSIONS).find((version) => version !== before.version)!;
    await this.#serve(next, signal);
    for (const name of Object.keys(MODELS)) {
      this.#server.setDefault(name, next);
      await this.#server.unregister(name, before.version);
    }
    await before.client.dispose();
  }

  async stop(): Promise<void> {
    this.#host?.dispose();
    this.#host = undefined;
    const current = this.#current;
    this.#current = undefined;
    if (!current) return;
    for (const name of Object.keys(MODELS)) await this.#server.unregister(name, current.version);
    await current.client.dispose();
  }

  async #serve(version: string, signal: AbortSignal, onProgress?: (progress: Progress) => void): Promise<void> {
    const engine = VERSIONS[version]!;
    const client = (await load('models/digits/', {
      backends: [`${engine}/webgpu`, `${engine}/webgl`, `${engine}/wasm`],
      signal,
      ...(onProgress && { onProgress }),
    })) as unknown as Client;
    for (const name of Object.keys(MODELS)) await this.#server.register(client, { name, version });
    this.#current = { version, client };
  }
}
