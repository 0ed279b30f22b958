import type { Archive, FileProgress } from '../contract/archive.js';
import type { EngineName } from '../contract/backends.js';
import type { WorkerEvent } from '../contract/wire.js';
import { fetchArchive, fetchModel, type ArchiveOptions } from '../models/archive.js';
import type { FetchOptions } from '../models/fetch.js';

/** Downloads the model and the engine of one worker, side by side, and reports progress. */
export class Downloads {
  readonly #emit: (event: WorkerEvent) => void;
  readonly #options: FetchOptions;
  /** The parts that may still have files whose progress was not reported yet. */
  readonly #unplanned = new Set<'model' | 'engine'>(['model', 'engine']);
  #last: FileProgress | undefined;

  constructor(emit: (event: WorkerEvent) => void) {
    this.#emit = emit;
    this.#options = {
      fetch: globalThis.fetch.bind(globalThis),
      onProgress: (progress) => this.#report(progress),
      downloads: new Map(),
    };
  }

  archive(source: string | File, config: ArchiveOptions['config']): Promise<Archive> {
    return fetchArchive(source, { ...this.#options, config });
  }

  async model(archive: Archive, engine: EngineName): Promise<Archive> {
    const loaded = await fetchModel(archive, engine, this.#options, () => this.#plan('model'));
    this.#options.downloads!.clear();
    return loaded;
  }

  /** Starts an engine. The engine reports its downloads to the function that `start` gets. */
  async engine<T>(start: (onProgress: (progress: FileProgress) => void) => Promise<T>): Promise<T> {
    try {
      return await start((progress) => {
        // An engine downloads one file.
        this.#unplanned.delete('engine');
        this.#report(progress);
      });
    } finally {
      this.#plan('engine');
    }
  }

  #plan(part: 'model' | 'engine'): void {
    if (this.#unplanned.delete(part) && this.#unplanned.size === 0 && this.#last) this.#report(this.#last);
  }

  #report(progress: FileProgress): void {
    this.#last = progress;
    this.#emit({ type: 'progress', progress, planned: this.#unplanned.size === 0 });
  }
}
