/** What a page loads to assess a model: says what `load` would do, and whether the model will run well here. */
import { partsOf } from '../../contract/archive-parts.js';
import type {
  Assessed,
  AssessedBackend,
  AssessedDevice,
  AssessedFile,
  Assessment,
  LeftOut,
} from '../../contract/assessment.js';
import {
  describeThreads,
  formatOfEngine,
  type Candidate,
  type CandidateName,
  type Probe,
  type Skipped,
} from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import { servingOf } from '../../contract/settings.js';
import { abortError } from '../../shared/abort.js';
import { memoryOf } from '../../shared/memory.js';
import { sortFiles } from '../../shared/model-files.js';
import { formatOf } from '../../shared/model-url.js';
import { defaultThreads } from '../../shared/threads.js';
import type { OpenerOptions } from '../options/client-options.js';
import type { WorkerFactory } from '../workers/worker-factory.js';
import { readChoice, readModel } from './open-worker.js';
import type { Choice } from './open.js';
import { CompiledFiles, OpeningWorkers } from './opening-workers.js';
import { needsGpus, planCandidates } from './order.js';
import { choosePrecisions } from './precisions.js';

/**
 * Assesses a model in a worker of its own, which ends then.
 * @throws `model-config` for a wrong option; what `load` throws because of the archive; `worker-failed`, `aborted`
 */
export async function assessModel(
  factory: WorkerFactory,
  options: OpenerOptions,
  signal: AbortSignal | undefined,
): Promise<Assessment> {
  const { source, config, handler, download, remote, powerPreference } = readModel(options);
  const choice = readChoice(options);
  const ending = new AbortController();
  const workers = new OpeningWorkers({
    factory,
    compiled: new CompiledFiles(),
    config,
    warn: () => {},
    onProgress: undefined,
    signal: signal ? AbortSignal.any([signal, ending.signal]) : ending.signal,
  });
  const abort = (): void => workers.closeAll(abortError(signal!));
  signal?.addEventListener('abort', abort);
  try {
    const worker = await workers.start();
    const [{ probe, built }, found, freeStorage] = await Promise.all([
      worker.call((methods) => methods.probe(undefined, needsGpus(choice.backends), powerPreference)),
      worker.call((methods) => methods.assess({ source, config, handler, download })),
      freeBytes(),
    ]);
    return assess(found, { probe, built, freeStorage, choice, hasServer: remote !== undefined });
  } finally {
    signal?.removeEventListener('abort', abort);
    workers.closeAll(new TabServeError('disposed', 'The model is assessed.'));
  }
}

/** What a model is assessed for. */
export interface Here {
  readonly probe: Probe;
  readonly built: readonly CandidateName[];
  readonly freeStorage: number | undefined;
  readonly choice: Pick<Choice, 'backends' | 'prefer' | 'verify'>;
  readonly hasServer: boolean;
}

/** Says what `load` would do with a model here. A pure function. */
export function assess({ archive, handler, files }: Assessed, here: Here): Assessment {
  const { probe, built, freeStorage, choice, hasServer } = here;
  const parts = partsOf(archive);
  const { candidates, skipped } = planCandidates({
    probe,
    built,
    archive,
    named: choice.backends,
    hasServer,
    proven: choice.verify === 'reference' || parts.every((part) => part.archive.golden.length > 0),
    measured: choice.prefer === 'fastest',
  });
  const { wasm, cores } = probe;
  const most = wasm.available && wasm.threads ? defaultThreads(cores, servingOf(archive.config).maxWorkers) : 1;
  const device: AssessedDevice = { ...probe, threads: archive.config.engine?.threads ?? most, freeStorage };
  const backends: AssessedBackend[] = [];
  const missing: Skipped[] = [];
  for (const candidate of candidates) {
    const assessed = assessCandidate(candidate);
    if (typeof assessed === 'string') missing.push({ ...candidate, reason: assessed });
    else backends.push(assessed);
  }
  return {
    modelName: archive.manifest.model.modelName,
    handler,
    files,
    device,
    backends,
    skipped: [...skipped, ...missing],
  };

  /** Returns why a candidate gets no file, if it gets none. */
  function assessCandidate(candidate: Candidate): AssessedBackend | string {
    const own: AssessedFile[] = [];
    const excluded: LeftOut[] = [];
    if (candidate.engine === 'remote')
      return { ...candidate, files: own, excluded, bytes: 0, memory: undefined, concerns: [] };
    for (const { node, archive: part } of parts) {
      const precisions = choosePrecisions(candidate, part, probe);
      excluded.push(...(precisions?.excluded ?? []).map((one) => ({ node, ...one })));
      const format = formatOfEngine(candidate.engine)!;
      const possible = precisions
        ? sortFiles(
            part.alternatives!.filter(({ path }) => formatOf(path) === format),
            precisions.wanted,
          )
        : [{ path: part.models[format]! }];
      const found = possible.flatMap(({ path }) => files.filter((one) => one.node === node && one.path === path))[0];
      if (!found)
        return `None of the files that it could get is there: ${possible.map(({ path }) => path).join(', ')}.`;
      own.push(found);
    }
    const bytes = sum(own.map((file) => file.bytes));
    const memory = memoryOf(candidate, own, handler.name);
    return {
      ...candidate,
      files: own,
      excluded,
      bytes,
      memory,
      concerns: concernsOf(candidate, bytes, memory, device),
    };
  }
}

/** What 32-bit WebAssembly can address. */
const WASM_BYTES = 2 ** 32;

function concernsOf(
  { name }: Candidate,
  bytes: number | undefined,
  memory: number | undefined,
  { memory: gigabytes, freeStorage, threads, wasm }: AssessedDevice,
): readonly string[] {
  const concerns: string[] = [];
  if (memory !== undefined && memory > WASM_BYTES && name === 'wasm')
    concerns.push(`It needs about ${inMegabytes(memory)}, and WebAssembly has at most ${inMegabytes(WASM_BYTES)}.`);
  if (memory !== undefined && gigabytes !== undefined && memory > (gigabytes * 2 ** 30) / 2)
    concerns.push(`It needs about ${inMegabytes(memory)}, more than half of this device's ${gigabytes} GB of memory.`);
  if (bytes !== undefined && freeStorage !== undefined && bytes > freeStorage)
    concerns.push(
      `The browser stores at most ${inMegabytes(freeStorage)} more for this site: unless they are stored already, the files are downloaded at each visit.`,
    );
  if (name === 'wasm' && threads === 1 && wasm.available && !wasm.threads)
    concerns.push(`It computes with ${describeThreads(1)}, because the page is not cross-origin isolated.`);
  return concerns;
}

function sum(numbers: readonly (number | undefined)[]): number | undefined {
  return numbers.reduce((total, one) => (total === undefined || one === undefined ? undefined : total + one), 0);
}

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
}

/** Returns how many bytes this origin may still store; undefined where the browser does not say. */
async function freeBytes(): Promise<number | undefined> {
  try {
    const { quota, usage } = await navigator.storage.estimate();
    return quota === undefined || usage === undefined ? undefined : Math.max(0, quota - usage);
  } catch {
    return undefined;
  }
}
