import { compareOutputs } from '../../backends/proof.js';
import { nameOf, type Candidate } from './candidates.js';
import type { Archive } from '../../contract/archive.js';
import type { Backend, CandidateName } from '../../contract/backends.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { Opened } from '../../contract/wire.js';
import type { Connection } from '../workers/connection.js';
import type { Finding, Memory } from './memory.js';
import type { Story } from '../log.js';

export interface TrialOptions {
  readonly archive: Archive;
  readonly handler: string | undefined;
  readonly assets: string | undefined;
  /** By the archive's golden examples alone, or, where it has none, against WASM too. */
  readonly verify: 'golden' | 'reference';
  /** Why a candidate is not to be taken unproven, by its name. */
  readonly unproven: ReadonlyMap<CandidateName, string>;
  readonly memory: Memory;
  readonly story: Story;
  /** Called with the archive whenever there is more of it, so that no later try downloads that again. */
  readonly onArchive: (archive: Archive) => void;
  /** Starts a worker. @param until ends the start too */
  readonly start: (until: AbortSignal) => Promise<Connection>;
}

/** A candidate at work. */
export interface Contender {
  readonly candidate: Candidate;
  readonly connection: Connection;
  readonly opened: Opened;
  readonly proof: Backend['proof'];
  /** Milliseconds of a run. */
  readonly median: number | undefined;
  /** Whether that was measured at an earlier visit. */
  readonly remembered: boolean;
}

/** Opens candidates one by one, proves each, and measures it where that is wanted. */
export class Trial {
  readonly #options: TrialOptions;
  /** With the model in each format that a candidate has wanted. */
  #archive: Archive;

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#archive = options.archive;
  }

  /** @param budget milliseconds that measuring it may take; undefined if it is not to be measured */
  async run(candidate: Candidate, worker: Connection, budget: number | undefined): Promise<Contender> {
    const opened = await this.#openOn(worker, candidate);
    const comparing =
      opened.golden === 0 &&
      !isReference(candidate) &&
      (this.#options.verify === 'reference' || opened.suspicion !== undefined);
    const build = comparing || budget !== undefined ? await this.#build(candidate, opened, worker) : undefined;
    const known = build === undefined ? {} : await this.#options.memory.recall(candidate, build);
    let verdict: Finding = known;
    if (comparing && !verdict.compared) verdict = { ...verdict, ...(await this.#compare(candidate, worker)) };
    const wrong = comparing ? verdict.wrong : undefined;
    if (budget !== undefined && verdict.median === undefined && wrong === undefined)
      verdict = { ...verdict, median: (await worker.call(({ measure }) => measure(budget)))?.median };
    if (build !== undefined && verdict !== known) await this.#options.memory.remember(candidate, build, verdict);
    if (wrong !== undefined)
      throw new TabServeError('backend-wrong', `It computes wrongly: compared with WASM, ${wrong}.`);
    const proof = opened.golden > 0 ? 'golden' : verdict.compared ? 'reference' : 'none';
    const unproven = proof === 'none' && this.#options.unproven.get(nameOf(candidate));
    if (unproven) throw new TabServeError('backend-failed', `It could not be proven. ${unproven}`);
    return {
      candidate,
      connection: worker,
      opened,
      proof,
      median: verdict.median,
      remembered: known.median !== undefined,
    };
  }

  async #openOn(worker: Connection, candidate: Candidate): Promise<Opened> {
    const { handler, assets, onArchive } = this.#options;
    this.#archive = await worker.call(({ loadModel }) =>
      loadModel(this.#archive, { candidate: nameOf(candidate), assets }),
    );
    onArchive(this.#archive);
    return await worker.call(({ open }) =>
      open({ candidate: nameOf(candidate), archive: this.#archive, handler, assets }),
    );
  }

  /** The model's hash and the engine's version; undefined where no hash can be had. */
  async #build({ engine }: Candidate, { version }: Opened, worker: Connection): Promise<string | undefined> {
    const hash = await worker.call((methods) => methods.hash(this.#archive, engine));
    return hash && `${hash} ${version}`;
  }

  /** Runs the model on the same inputs here and on WASM, in a second worker. Without one, or without an input, nothing is known. */
  async #compare(candidate: Candidate, worker: Connection): Promise<Finding> {
    const { story } = this.#options;
    const since = performance.now();
    const reference: Candidate = { engine: candidate.engine, name: 'wasm' };
    const mine = await worker.call(({ sample }) => sample());
    if (mine.length === 0) {
      story.tell(
        `${nameOf(candidate)} could not be compared with ${nameOf(reference)}: there is no input whose dims are known.`,
        since,
      );
      return {};
    }
    let second: Connection | undefined;
    try {
      second = await this.#options.start(worker.ended);
      worker.ended.addEventListener('abort', () => second!.close(worker.error!));
      await this.#openOn(second, reference);
      const right = await second.call(({ sample }) => sample(mine.map(({ feeds }) => feeds)));
      const comparisons = mine.map(({ outputs }, index) => compareOutputs(outputs, right[index]!.outputs));
      const error = Math.max(...comparisons.map((one) => one.error));
      const [worst] = comparisons.filter(({ wrong }) => wrong !== undefined).toSorted((a, b) => b.error - a.error);
      story.tell(
        `${nameOf(candidate)} was compared with ${nameOf(reference)}: largest difference ${error.toPrecision(3)}.`,
        since,
      );
      return { compared: true, wrong: worst?.wrong };
    } catch (error) {
      if (worker.error) throw worker.error;
      story.tell(
        `${nameOf(candidate)} could not be compared with ${nameOf(reference)}: ${asTabServeError(error).message}`,
        since,
      );
      return {};
    } finally {
      second?.close(new TabServeError('disposed', 'The comparison is done.'));
    }
  }
}

/** WASM, and plain JavaScript: right on everything. */
function isReference({ name }: Candidate): boolean {
  return name === 'wasm' || name === 'cpu';
}
