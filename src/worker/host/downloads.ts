import type { Archive, FilePhase, FileProgress } from '../../contract/archive.js';
import { fileName, partsOf } from '../../contract/archive-parts.js';
import { formatOfEngine, type EngineName } from '../../contract/backends.js';
import type { CacheName, DownloadSettings } from '../../contract/downloads.js';
import type { WorkerEvent } from '../../contract/wire.js';
import type { EngineEnvironment } from '../engines/engine.js';
import type { ArchiveLocation } from '../models/archive.js';
import {
  fetchWorkflow,
  fetchWorkflowModels,
  type WorkflowModelOptions,
  type WorkflowOptions,
} from '../models/fetch.js';
import type { FetchOptions } from '../models/download/fetch-file.js';
import type { RequestUrl } from '../models/onnx/declared.js';
import { type FileCache, openCache } from '../models/cache/file-cache.js';
import { limitConcurrency } from '../models/download/concurrency.js';
import { sourceOf } from '../models/model-files.js';
import type { Source } from '../models/sources/source.js';
import { requestFile } from '../../shared/request-policy.js';

/** Downloads at once: as many as browsers open to one server that does not speak HTTP/2. */
const MAX_CONCURRENT = 6;

/** Downloads the model and the engine of one worker, side by side, and reports progress. */
export class Downloads {
  readonly #emit: (event: WorkerEvent) => void;
  readonly #downloads = new Map<string, Promise<Blob | undefined>>();
  readonly #found = new Set<string>();
  readonly #limit = limitConcurrency(MAX_CONCURRENT);
  /** The parts that may still have files whose progress was not reported yet. */
  readonly #unplanned = new Set<'model' | 'engine'>(['model', 'engine']);
  #last: FileProgress | undefined;
  readonly #caches = new Map<CacheName, FileCache | undefined>();
  readonly #fetch: typeof fetch;

  constructor(emit: (event: WorkerEvent) => void, request: typeof fetch) {
    this.#emit = emit;
    this.#fetch = request;
  }

  /** Reads an archive. `choice` is what the caller has chosen, which wins over the archive's own. */
  archive(
    source: ArchiveLocation,
    choice: Pick<WorkflowOptions, 'config' | 'handler' | 'handlerClass' | 'onManifest'>,
    settings: DownloadSettings,
  ): Promise<Archive> {
    return fetchWorkflow(source, { ...this.#options(settings), ...choice });
  }

  /** Reads an archive of which nothing else is downloaded, and returns where its other files are read from. */
  async outline(
    from: ArchiveLocation,
    choice: Pick<WorkflowOptions, 'config' | 'handler' | 'handlerClass'>,
    settings: DownloadSettings,
  ): Promise<{ readonly archive: Archive; readonly sourceOf: (archive: Archive) => Promise<Source> }> {
    // Without this list, no file begins to be downloaded before it is read.
    const { downloads: _, ...options } = this.#options(settings);
    const archive = await fetchWorkflow(from, { ...options, ...choice });
    return { archive, sourceOf: (one) => sourceOf(one, options) };
  }

  /** Reads the file of an archive's ONNX model; undefined if it is not known which file that is. */
  async onnx(archive: Archive, settings: DownloadSettings): Promise<Blob | undefined> {
    const { alternatives, models } = archive;
    if (alternatives || models.onnx === undefined) return undefined;
    return await (await sourceOf(archive, this.#options(settings))).read(models.onnx);
  }

  /** @param precisions those that are wanted of each part's alternatives, best first */
  async model(
    archive: Archive,
    engine: EngineName,
    settings: DownloadSettings,
    precisions: WorkflowModelOptions['precisions'],
  ): Promise<Archive> {
    const options = { ...this.#options(settings), precisions };
    const loaded = await fetchWorkflowModels(archive, engine, options, () => this.#plan('model'));
    this.#downloads.clear();
    return loaded;
  }

  /** Waits until the downloads are stored for the next visit, as far as possible. */
  async stored(): Promise<void> {
    await Promise.all(Array.from(this.#caches.values(), (cache) => cache?.stored()));
  }

  /**
   * Starts an engine. `start` gets what the engine downloads its files with. Headers and credentials are for the model
   * alone.
   */
  async engine<T>(
    settings: DownloadSettings,
    start: (environment: Pick<EngineEnvironment, 'fetch' | 'onProgress' | 'cached'>) => Promise<T>,
  ): Promise<T> {
    const policy = { allowedOrigins: settings.allowedOrigins, pageOrigin: pageOrigin() };
    const cache = this.cache(settings);
    try {
      return await start({
        fetch: (url, init) => requestFile(this.#fetch, new URL(url as URL), policy, { ...init } as object),
        cached:
          cache &&
          ((file, download, onBytes) =>
            cache.get(file, async (_, report) => ({ blob: await download(report) }), { onBytes })),
        onProgress: (progress) => {
          // An engine downloads one file.
          this.#unplanned.delete('engine');
          this.#report(progress);
        },
      });
    } finally {
      this.#plan('engine');
    }
  }

  /** Returns how to request a part of a model's file, which is not cached. */
  request({ request, allowedOrigins }: DownloadSettings): RequestUrl {
    const policy = { ...request, allowedOrigins, pageOrigin: pageOrigin() };
    return (url, extra) => requestFile(this.#fetch, url, policy, extra);
  }

  /** Returns what stores a model's files for the next visit; undefined if nothing does. */
  cache({ cache: name = 'cache-api', visit = Date.now() }: DownloadSettings): FileCache | undefined {
    const cache = this.#caches.has(name)
      ? this.#caches.get(name)
      : openCache(name, visit, (message) => this.#emit({ type: 'warn', message }));
    this.#caches.set(name, cache);
    return cache;
  }

  /**
   * Reports that the files of each part's model are there, and what happens to them next. A model on a server has none.
   */
  enter(phase: FilePhase, archive: Archive, engine: EngineName): void {
    const format = formatOfEngine(engine);
    if (format === undefined) return;
    for (const part of partsOf(archive)) {
      const path = part.archive.models[format]!;
      const { size } = part.archive.files[path]!;
      this.#report({ file: fileName(part, path), loaded: size, total: size, phase });
    }
  }

  #options(settings: DownloadSettings): FetchOptions {
    const { request, allowedOrigins, integrity } = settings;
    return {
      ...request,
      allowedOrigins,
      pageOrigin: pageOrigin(),
      fetch: this.#fetch,
      onProgress: (progress) => this.#report(progress),
      onHeartbeat: () => this.#emit({ type: 'heartbeat', id: undefined }),
      integrity,
      downloads: this.#downloads,
      found: this.#found,
      limit: this.#limit,
      cache: this.cache(settings),
    };
  }

  #plan(part: 'model' | 'engine'): void {
    if (this.#unplanned.delete(part) && this.#unplanned.size === 0 && this.#last) this.#report(this.#last);
  }

  #report(progress: FileProgress): void {
    this.#last = progress;
    this.#emit({ type: 'progress', progress, planned: this.#unplanned.size === 0 });
  }
}

/** Returns the origin of the page, which is the worker's, too. */
function pageOrigin(): string | undefined {
  return globalThis.location?.origin;
}
