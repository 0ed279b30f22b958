import { nameOf, type Candidate } from './candidates.js';
import type { Archive } from '../../contract/archive.js';
import type { CandidateName, Probe } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import type { Story } from '../log.js';
import type { Verdict, VerdictStore } from './verdicts.js';

/** The first visit may have to download the engine, and a GPU may be lost once: who fails has another chance. */
const CHANCES = 2;

/** What is found out about a candidate that runs. */
export type Finding = Pick<Verdict, 'compared' | 'wrong' | 'median'>;

/** What is known of a candidate before it is opened. */
export interface Kept {
  /** Milliseconds of a run; undefined if it did not do. */
  readonly median: number | undefined;
  /** Why another one is taken. */
  readonly reason: string;
}

export interface MemoryOptions {
  readonly verdicts: VerdictStore;
  readonly story: Story;
  readonly probe: Probe;
  readonly archive: Archive;
}

/** What earlier visits found out about the candidates for one model. A store that fails is told of, and nothing more. */
export class Memory {
  readonly #options: MemoryOptions;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  /** What is kept of the candidates for this config, browser and adapter. Whether model and engine are the same shows when one is opened. */
  async glance(candidates: readonly Candidate[]): Promise<Map<CandidateName, Kept>> {
    const verdicts = await Promise.all(
      candidates.map(async (candidate) => [nameOf(candidate), reading(await this.#get(candidate))] as const),
    );
    return new Map(verdicts.filter((entry): entry is readonly [CandidateName, Kept] => entry[1] !== undefined));
  }

  /** What was found out about a candidate with this build: the model's hash and the engine's version. */
  async recall(candidate: Candidate, build: string): Promise<Finding> {
    const verdict = await this.#get(candidate);
    return verdict?.build === build ? verdict : {};
  }

  async remember(candidate: Candidate, build: string, { compared, wrong, median }: Finding): Promise<void> {
    await this.#set(candidate, { build, compared, wrong, median });
  }

  /** Remembers that a candidate did not run, or not in time, so that later visits need not wait for it. A verdict on its answers stays. */
  async giveUp(candidate: Candidate, { message }: TabServeError): Promise<void> {
    const before = await this.#get(candidate);
    if (before?.wrong !== undefined) return;
    await this.#set(candidate, {
      ...before,
      median: undefined,
      failed: { reason: message, visits: (before?.failed?.visits ?? 0) + 1 },
    });
  }

  async #get(candidate: Candidate): Promise<Verdict | undefined> {
    try {
      const verdict = await this.#options.verdicts.get(this.#key(candidate));
      return verdict?.surroundings === this.#surroundings(candidate) ? verdict : undefined;
    } catch (error) {
      this.#options.story.tell(
        `What was found out about ${nameOf(candidate)} earlier could not be read: ${String(error)}`,
      );
      return undefined;
    }
  }

  async #set(candidate: Candidate, verdict: Omit<Verdict, 'surroundings'>): Promise<void> {
    try {
      await this.#options.verdicts.set(this.#key(candidate), {
        ...verdict,
        surroundings: this.#surroundings(candidate),
      });
    } catch (error) {
      this.#options.story.tell(`What was found out about ${nameOf(candidate)} could not be kept: ${String(error)}`);
    }
  }

  #key(candidate: Candidate): string {
    return `${nameOf(candidate)} ${this.#options.archive.url}`;
  }

  #surroundings({ name }: Candidate): string {
    const { webgpu, webgl, wasm, cores, crossOriginIsolated } = this.#options.probe;
    const adapter = { webgpu, webgl, wasm: { wasm, cores, crossOriginIsolated }, cpu: cores }[name];
    return JSON.stringify([this.#options.archive.config, adapter, navigator.userAgent]);
  }
}

/** Undefined if it is still to be measured. */
function reading(verdict: Verdict | undefined): Kept | undefined {
  if (!verdict) return undefined;
  const { wrong, failed, median } = verdict;
  if (wrong !== undefined)
    return { median: undefined, reason: `It computes wrongly: compared with WASM at an earlier visit, ${wrong}.` };
  if (median !== undefined)
    return { median, reason: `It is slower: at an earlier visit it took ${median.toFixed(1)} ms a run.` };
  return failed && failed.visits >= CHANCES
    ? { median: undefined, reason: `At ${failed.visits} visits it was given up, at last because: ${failed.reason}` }
    : undefined;
}
