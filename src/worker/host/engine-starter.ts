import type { Archive, ModelConfig } from '../../contract/archive.js';
import { archiveFor } from '../../contract/archive-parts.js';
import {
  candidateOf,
  formatOfEngine,
  formatsKey,
  type CandidateName,
  type ModelFormat,
} from '../../contract/backends.js';
import { isError, messageOf, TabServeError } from '../../contract/errors.js';
import { servingOf } from '../../contract/settings.js';
import type { CompiledFile, StartRequest, WorkerEvent } from '../../contract/wire.js';
import { timed } from '../../shared/spans.js';
import type { ManifestFound } from '../models/archive.js';
import type { Engine, Engines } from '../engines/engine.js';
import type { Downloads } from './downloads.js';
import type { Platform } from './platform.js';

export interface EngineStarterOptions {
  readonly engines: Engines;
  readonly platform: Platform;
  readonly downloads: Downloads;
  readonly emit: (event: WorkerEvent) => void;
}

/** Starts the engine of one worker, side by side with whatever else the worker does. */
export class EngineStarter {
  readonly #options: EngineStarterOptions;
  #started: { readonly candidate: CandidateName; readonly engine: Promise<Engine> } | undefined;

  constructor(options: EngineStarterOptions) {
    this.#options = options;
  }

  /**
   * Starts the candidate's engine, or returns the one that was started before.
   * @param config the archive's config for the engine: a promise where it is still being read
   * @returns a promise whose rejection, `backend-failed` of the stage `load`, may stay unhandled: whoever needs the engine asks again
   */
  start(request: StartRequest, config: ModelConfig | Promise<ModelConfig>): Promise<Engine> {
    const { candidate } = request;
    if (this.#started?.candidate !== candidate) {
      const engine = this.#start(request, config);
      engine.catch(() => {});
      this.#started = { candidate, engine };
    }
    return this.#started.engine;
  }

  /**
   * Starts the first candidate's engine, and begins to read its model, as soon as it is certain which one that is.
   * @param starts by `formatsKey`
   * @param manifests what an earlier visit has stored of the archive's manifest, and what it says: pending while they
   *   are being read. If they differ, the second one is used
   * @param archive pending while its config is being read
   */
  async prepare(
    starts: Readonly<Record<string, StartRequest>>,
    manifests: readonly [copy: Promise<ManifestFound>, certain: Promise<ManifestFound>],
    archive: Promise<Archive>,
  ): Promise<void> {
    const possible = Object.values(starts);
    const isCertain = possible.every(({ candidate }) => candidate === possible[0]!.candidate);
    const keyOf = ({ models }: ManifestFound): string => formatsKey(Object.keys(models) as ModelFormat[]);
    let begun: ManifestFound | undefined;
    for (const one of manifests) {
      // The stored copy does not matter once the server has answered.
      const manifest = Promise.race([manifests[1], one]);
      const request = isCertain ? possible[0] : starts[keyOf(await manifest)];
      if (!request) continue;
      const config = archive.then((one) => configFor(one, request));
      // The engine was started before, so the model is not read ahead.
      config.catch(() => {});
      void this.start(request, config);
      const format = formatOfEngine(candidateOf(request.candidate).engine);
      const found = await manifest;
      if (format && found !== begun) found.begin(format);
      begun = found;
    }
  }

  async #start(
    { candidate, threads: wanted, assets, remote, powerPreference, download, compiled }: StartRequest,
    config: Parameters<EngineStarter['start']>[1],
  ): Promise<Engine> {
    const { engines, platform, downloads, emit } = this.#options;
    const start = engines[candidate];
    if (!start)
      throw new TabServeError('backend-failed', `This worker was built without ${candidate}.`, { stage: 'load' });
    try {
      const threads = Promise.resolve(config).then((own) =>
        platform.threads(candidate, wanted ?? own.engine?.threads, servingOf(own).maxWorkers),
      );
      // An engine with one thread does not need the isolation check.
      threads.catch(() => {});
      // An engine that only an old manifest wanted is not used, so the loss of its GPU does not matter.
      const onLost = (why: string): void =>
        void (this.#started?.candidate === candidate && emit({ type: 'lost', why }));
      const onCompiled = (file: CompiledFile): void => this.#shareCompiled(candidate, file);
      const warn = (message: string): void => emit({ type: 'warn', message });
      return await timed('start engine', () =>
        downloads.engine(download, (environment) =>
          start({ assets, remote, powerPreference, onLost, warn, threads, compiled, onCompiled, ...environment }),
        ),
      );
    } catch (cause) {
      // A script that is missing is not the backend's fault.
      if (isError(cause) && cause instanceof TabServeError && cause.code === 'worker-failed') throw cause;
      throw new TabServeError('backend-failed', `${candidate} could not be started: ${messageOf(cause)}`, {
        cause,
        stage: 'load',
      });
    }
  }

  /**
   * Sends the page a compiled engine for its next workers. Where that is not possible, each worker compiles the engine.
   */
  #shareCompiled(candidate: CandidateName, compiled: CompiledFile): void {
    // The page of a sandboxed frame could not read the message, and would give up this worker.
    if (globalThis.origin === 'null') return;
    try {
      this.#options.emit({ type: 'compiled', candidate, compiled });
    } catch {
      // This browser does not clone compiled code.
    }
  }
}

/** Returns an archive's config for an engine that is to be started. */
export function configFor(archive: Archive, { candidate }: StartRequest): ModelConfig {
  return archiveFor(archive, candidateOf(candidate).engine).config;
}
