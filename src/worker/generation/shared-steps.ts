/** Answers that are generated at the same time: they share each run of the model, where it computes the same then. */
import { nextTask } from '../../shared/next-task.js';
import type { Decoder, DecoderStep } from './decoder.js';
import type { PaddingSide, RowOfCache } from './join-rows.js';
import type { KeyValueCache } from './key-value-cache.js';
import { endsAll, type Later, StepSchedule, type Waiting } from './step-schedule.js';

/** How much the logits of a row may differ from those that it has alone. */
const TOLERANCE = 1e-3;

/** A row that waits for the logits after its last token. */
type WaitingRow = Waiting<SharedRow, readonly number[], Float32Array>;

type Logits = ReadonlyMap<SharedRow, Float32Array>;

/** Rows in their order in one cache. */
interface Batch {
  readonly rows: readonly SharedRow[];
  readonly cache: KeyValueCache;
}

/**
 * Runs the rows of a decoder. A row whose next run has one token runs together with all others that are ready, padded
 * to the longest one. It joins at the next run, and leaves when it ends or is not ready in time. Several tokens, such
 * as a prompt's, run alone, between the others' runs.
 *
 * Most models append the new tokens to the end of the cache: padding is on the left. ONNX Runtime's GroupQueryAttention
 * counts the tokens of each row in the mask, and writes after them: padding is on the right. Some models compute
 * something else for several rows whatever the padding: those that count positions by the cache's length, or choose
 * frequencies by the longest row. (Those that quantize all rows with one scale are known by their operators.) So a run is compared with those of each row alone,
 * once for each kind: with padding or without, and again whenever the shortest or the longest row has become twice as
 * long. If they differ, the other side is tried, and then no run is shared any more: the rows take turns. So they do
 * from the first shared run on that throws: a model may have a batch of 1 inside, whatever its inputs say.
 */
export class SharedSteps {
  readonly #decoder: Decoder;
  readonly #schedule: StepSchedule<SharedRow, readonly number[], Float32Array>;
  /** Of the padding; undefined if no run is shared. */
  #side: PaddingSide | undefined = 'left';
  /** The kinds of runs that were found to compute the same as alone. */
  readonly #proven = new Set<string>();
  #batch: Batch | undefined;

  constructor(decoder: Decoder, later?: Later) {
    this.#decoder = decoder;
    this.#schedule = new StepSchedule((waiting) => this.#step(waiting), later);
  }

  get hasCache(): boolean {
    return this.#decoder.hasCache;
  }

  get quantizesAtRunTime(): boolean {
    return this.#decoder.quantizesAtRunTime;
  }

  /** Returns whether each token sees only those before it. */
  async isCausal(tokens: readonly number[]): Promise<boolean> {
    return await this.#decoder.isCausal(tokens);
  }

  /** Returns a row. @param cache of its beginning, which the row frees */
  row(cache: KeyValueCache): SharedRow {
    return new SharedRow(this, cache);
  }

  /**
   * Returns the logits after a row's last token. Other requests, and an abort, get their turn before: on WASM, a run
   * alone gives them none.
   * @throws what the session's run throws
   */
  async run(row: SharedRow, tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    const logits = await this.#run(row, tokens, signal);
    await nextTask();
    return logits;
  }

  async #run(row: SharedRow, tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    if (this.#side && this.#decoder.canJoin(row.position.cache) && tokens.length - row.length === 1)
      return await this.#schedule.next(row, tokens);
    return await this.#alone(row, tokens, signal);
  }

  /** Moves a row to a cache of its own. */
  async single(row: SharedRow): Promise<void> {
    if (!row.position.isShared) return;
    const cache = await this.#decoder.joinRows([row.position], 'left');
    row.moveTo({ ...row.position, cache, row: 0, start: 0 }, false);
  }

  /** Removes a row that has ended, because nobody waits for it. Must be called then. */
  ended(row: SharedRow): void {
    if (this.#batch?.rows.includes(row)) this.#batch = undefined;
    this.#schedule.leave(row);
  }

  async #step(waiting: readonly WaitingRow[]): Promise<void> {
    const logits =
      waiting.length > 1 && this.#side
        ? await this.#together(waiting, this.#side).catch((error: unknown) => this.#apart(waiting, error))
        : await this.#inTurn(waiting);
    for (const { row, resolve } of waiting) if (logits.has(row)) resolve(logits.get(row)!);
  }

  async #together(waiting: readonly WaitingRow[], side: PaddingSide): Promise<Logits> {
    const { rows, cache } = await this.#batchOf(
      waiting.map(({ row }) => row),
      side,
    );
    const tokens = new Map(waiting.map(({ row, value }) => [row, value] as const));
    const pads = rows.map((row) => cache.length - row.length);
    let step: DecoderStep;
    try {
      step = await this.#decoder.run(
        rows.map((row) => tokens.get(row)!),
        cache,
        undefined,
        pads,
        side,
      );
    } finally {
      cache.free();
    }
    const logits = new Map(rows.map((row, index) => [row, step.logits[index]!] as const));
    const kind = kindOf(rows.map(({ length }) => length));
    try {
      if (!this.#proven.has(kind)) return await this.#prove(waiting, logits, kind);
      for (const [index, row] of rows.entries())
        row.moveTo(
          {
            cache: step.cache.use(),
            row: index,
            start: side === 'left' ? pads[index]! : 0,
            length: tokens.get(row)!.length,
          },
          true,
        );
      this.#batch = { rows, cache: step.cache };
      return logits;
    } finally {
      step.cache.free();
    }
  }

  /** Returns the rows in one cache, for the caller to free. It is made anew only if a row has joined or left. */
  async #batchOf(rows: readonly SharedRow[], side: PaddingSide): Promise<Batch> {
    const { rows: last, cache } = this.#batch ?? {};
    const isSame =
      last?.length === rows.length && last.every((row) => rows.includes(row) && row.position.cache === cache);
    if (isSame) return { rows: last, cache: cache!.use() };
    const positions = rows.map(({ position }) => position);
    return { rows, cache: await this.#decoder.joinRows(positions, side) };
  }

  /** Runs each row alone, and returns what it gets. From now on, such runs are shared, or not with this padding. */
  async #prove(waiting: readonly WaitingRow[], together: Logits, kind: string): Promise<Logits> {
    const alone = await this.#inTurn(waiting);
    if ([...alone].some(([row, logits]) => !areAlike(together.get(row)!, logits))) {
      this.#side = this.#side === 'left' ? 'right' : undefined;
      this.#proven.clear();
    } else if (alone.size === waiting.length) this.#proven.add(kind);
    return alone;
  }

  /** Runs each row alone, now and from now on. @throws the error, if it is not of running together */
  async #apart(waiting: readonly WaitingRow[], error: unknown): Promise<Logits> {
    if (endsAll(error)) throw error;
    this.#side = undefined;
    return await this.#inTurn(waiting);
  }

  /** Runs each row alone. One that fails is told so, and is left out: the others have their logits. */
  async #inTurn(waiting: readonly WaitingRow[]): Promise<Logits> {
    const logits = new Map<SharedRow, Float32Array>();
    for (const { row, value, reject } of waiting)
      try {
        logits.set(row, await this.#alone(row, value));
      } catch (error) {
        reject(error);
      }
    return logits;
  }

  async #alone(row: SharedRow, tokens: readonly number[], signal?: AbortSignal): Promise<Float32Array> {
    await this.single(row);
    const { cache, logits } = await this.#decoder.run([tokens], row.position.cache, signal);
    row.moveTo({ cache, row: 0, start: 0, length: tokens.length }, false);
    return logits[0]!;
  }
}

/** The tokens of one answer, as far as the model has run on them. */
export class SharedRow {
  readonly #steps: SharedSteps;
  #position: RowOfCache & { readonly isShared: boolean };

  constructor(steps: SharedSteps, cache: KeyValueCache) {
    this.#steps = steps;
    this.#position = { cache, row: 0, start: 0, length: cache.length, isShared: false };
  }

  /** Whether the model keeps what it has computed of a row. */
  get hasCache(): boolean {
    return this.#steps.hasCache;
  }

  /** Whether its numbers depend on which of its tokens run together. */
  get quantizesAtRunTime(): boolean {
    return this.#steps.quantizesAtRunTime;
  }

  /** Returns whether each token sees only those before it. @param tokens its own */
  async isCausal(tokens: readonly number[]): Promise<boolean> {
    return await this.#steps.isCausal(tokens);
  }

  /** How many tokens the model has run on. */
  get length(): number {
    return this.#position.length;
  }

  get position(): RowOfCache & { readonly isShared: boolean } {
    return this.#position;
  }

  /** Takes over a cache. @param isShared whether others are in it, too */
  moveTo(position: RowOfCache, isShared: boolean): void {
    this.#position.cache.free();
    this.#position = { ...position, isShared };
  }

  /**
   * Returns the logits after the last token, for the caller to change.
   * @param tokens all tokens; the model runs on those that it has not run on
   * @throws what the session's run throws
   */
  async run(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    return await this.#steps.run(this, tokens, signal);
  }

  /** Ends the row, and returns its cache for the caller to free. */
  async end(): Promise<KeyValueCache> {
    this.#steps.ended(this);
    await this.#steps.single(this);
    return this.#position.cache;
  }

  /** Ends the row without an answer. */
  free(): void {
    this.#steps.ended(this);
    this.#position.cache.free();
  }
}

/** No model is known that computes something else after fewer tokens. */
const SHORT = 64;

/** Returns which proof counts for rows of these lengths: whether they are padded, and how long they are, by powers of two. */
function kindOf(lengths: readonly number[]): string {
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
  const power = (length: number): number => Math.floor(Math.log2(Math.max(SHORT, length)));
  return [shortest < longest, power(shortest), power(longest)].join();
}

function areAlike(one: Float32Array, other: Float32Array): boolean {
  return one.every((value, index) => Math.abs(value - other[index]!) <= TOLERANCE);
}
