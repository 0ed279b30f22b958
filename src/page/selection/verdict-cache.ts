import { describeTime } from '../../contract/describe-value.js';
import type { Archive } from '../../contract/archive.js';
import { allParts } from '../../contract/archive-parts.js';
import { describeCandidate, type Candidate, type Probe } from '../../contract/backends.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { VERSION } from '../../contract/version.js';
import { abortError } from '../../shared/abort.js';
import type { Clock } from '../../shared/clock.js';
import { withinLimit } from '../../shared/limit.js';
import { isVerdict, type ExcludedPrecision, type Verdict, type VerdictStore } from './verdicts.js';

/**
 * Visits at which a candidate may fail before it is no longer tried: the first one may have had to download the engine,
 * and a GPU may be lost once.
 */
const MAX_FAILED_VISITS = 2;

/** How long a store may take for one answer. */
const STORE_MS = 1000;

/** What is known about a candidate that runs. */
export type Findings = Pick<Verdict, 'compared' | 'wrong' | 'larger' | 'median'>;

/** What an earlier visit found out about a candidate that has not been opened yet. */
export interface CachedVerdict {
  /** Milliseconds of a run; undefined if the candidate failed. */
  readonly median: number | undefined;
  /** Why another candidate is preferred. */
  readonly reason: string;
}

export interface VerdictCacheOptions {
  readonly store: VerdictStore;
  readonly probe: Probe;
  readonly archive: Archive;
  readonly log: (message: string) => void;
  /** Ends every wait for the store. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Reads and writes verdicts on the candidates for one model in this environment. A store that throws, hangs or returns
 * something other than a verdict is logged and treated as empty. After one timeout, it is not asked again.
 */
export class VerdictCache {
  readonly #options: VerdictCacheOptions;
  #isDown = false;

  constructor(options: VerdictCacheOptions) {
    this.#options = options;
  }

  /**
   * Returns, by `describeCandidate`, the verdicts of this version of the SDK for this config, adapter and browser. Only
   * opening a candidate shows whether the model and the engine are still the same.
   */
  async findAll(candidates: readonly Candidate[]): Promise<Map<string, CachedVerdict>> {
    const verdicts = await Promise.all(
      candidates.map(
        async (candidate) => [describeCandidate(candidate), readVerdict(await this.#get(candidate))] as const,
      ),
    );
    return new Map(verdicts.filter((entry): entry is readonly [string, CachedVerdict] => entry[1] !== undefined));
  }

  /** Returns what was found out about a candidate with this build: the model's hash and the engine's version. */
  async find(candidate: Candidate, build: string): Promise<Findings> {
    const verdict = await this.#get(candidate);
    return verdict?.build === build ? verdict : {};
  }

  /** Returns whether larger inputs were compared at an earlier visit, perhaps with another build. */
  async hasLarger(candidate: Candidate): Promise<boolean> {
    return (await this.#get(candidate))?.larger !== undefined;
  }

  async save(candidate: Candidate, build: string, { compared, wrong, larger, median }: Findings): Promise<void> {
    await this.#set(candidate, {
      build,
      compared,
      wrong,
      larger,
      median,
      excluded: await this.findExcluded(candidate),
    });
  }

  /** Returns the precisions of the model that computed wrongly on a candidate at an earlier visit. */
  async findExcluded(candidate: Candidate): Promise<readonly ExcludedPrecision[] | undefined> {
    return (await this.#get(candidate))?.excluded;
  }

  /** Records that a precision computed wrongly, so that later visits do not download it. */
  async saveExcluded(candidate: Candidate, excluded: ExcludedPrecision): Promise<void> {
    const before = await this.#get(candidate);
    const { node, precision } = excluded;
    const others = before?.excluded?.filter((one) => one.node !== node || one.precision !== precision) ?? [];
    await this.#set(candidate, { ...before, excluded: [...others, excluded] });
  }

  /**
   * Records that a candidate did not run, or not in time, so that later visits need not wait for it. A verdict on its
   * outputs stays.
   */
  async saveFailure(candidate: Candidate, { message }: TabServeError): Promise<void> {
    const before = await this.#get(candidate);
    if (before?.wrong !== undefined || before?.larger?.wrong !== undefined) return;
    await this.#set(candidate, {
      ...before,
      median: undefined,
      failed: { reason: message, visits: (before?.failed?.visits ?? 0) + 1 },
    });
  }

  async #get(candidate: Candidate): Promise<Verdict | undefined> {
    const { store, log } = this.#options;
    return await this.#ask('could not be read', candidate, async (key, environment) => {
      const answer: unknown = await store.get(key);
      if (answer === undefined || answer === null) return undefined;
      if (isVerdict(answer)) return answer.environment === environment ? answer : undefined;
      log(`The cached verdict on ${describeCandidate(candidate)} is ignored: it does not have the form of a verdict.`);
      return undefined;
    });
  }

  async #set(candidate: Candidate, verdict: Omit<Verdict, 'environment'>): Promise<void> {
    const { store } = this.#options;
    await this.#ask('could not be saved', candidate, (key, environment) => store.set(key, { ...verdict, environment }));
  }

  async #ask<T>(
    failure: string,
    candidate: Candidate,
    work: (key: string, environment: string) => PromiseLike<T>,
  ): Promise<T | undefined> {
    const { log, clock, signal } = this.#options;
    if (this.#isDown) return undefined;
    try {
      return await withinLimit('The verdict store', () => work(this.#key(candidate), this.#environment(candidate)), {
        milliseconds: STORE_MS,
        clock,
        signal,
      });
    } catch (error) {
      if (signal?.aborted) throw abortError(signal);
      // Concurrent calls all time out together; one log entry is enough.
      if (this.#isDown) return undefined;
      this.#isDown = isTimeout(error);
      log(`The verdict on ${describeCandidate(candidate)} ${failure}: ${messageOf(error)}`);
      return undefined;
    }
  }

  #key(candidate: Candidate): string {
    return `${describeCandidate(candidate)} ${this.#options.archive.url}`;
  }

  #environment({ name }: Candidate): string {
    const { webgpu, webgl, webnn, wasm, cores, crossOriginIsolated } = this.#options.probe;
    const adapter = {
      webgpu,
      webgl,
      // WebNN does not say which device it computes on. It may be the GPU.
      webnn: { webnn, webgpu, cores },
      wasm: { wasm, cores, crossOriginIsolated },
      cpu: cores,
      remote: undefined,
    }[name];
    const [config, ...nodes] = allParts(this.#options.archive).map(({ archive }) => archive.config);
    return JSON.stringify([VERSION, config, adapter, globalThis.navigator?.userAgent, ...nodes]);
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof TabServeError && error.code === 'timeout';
}

/** Reads a verdict. Returns undefined if the candidate must still be measured. */
function readVerdict(verdict: Verdict | undefined): CachedVerdict | undefined {
  if (!verdict) return undefined;
  const { larger, failed, median } = verdict;
  const wrong = verdict.wrong ?? larger?.wrong;
  if (wrong !== undefined)
    return { median: undefined, reason: `It computes wrongly: compared with WASM at an earlier visit, ${wrong}.` };
  if (median !== undefined)
    return { median, reason: `It is slower: at an earlier visit a run took ${describeTime(median)}.` };
  return failed && failed.visits >= MAX_FAILED_VISITS
    ? {
        median: undefined,
        reason: `It could not be measured at ${failed.visits} visits, and is no longer tried: ${failed.reason}`,
      }
    : undefined;
}
