import type { Archive, FileProgress } from '../contract/archive.js';
import type { EngineName } from '../contract/backends.js';
import type { WorkerEvent } from '../contract/wire.js';
import { fetchArchive, fetchModel, type ArchiveOptions } from '../models/archive.js';
import type { FetchOptions } from '../models/fetch.js';

/** What one worker downloads, model and engine side by side, and its progress. */
export class Downloads {
  readonly #emit: (event: WorkerEvent) => void;
  readonly #options: FetchOptions;
  /** Parts that may still name files of which no progress was told yet. */
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

  /** Starts an engine, which reports its downloads to the function that it gets. */
  async engine<T>(start: (onProgress: (progress: FileProgress) => void) => Promise<T>): Promise<T> {
    try {
      return await start((progress) => {
        // It has one file.
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
