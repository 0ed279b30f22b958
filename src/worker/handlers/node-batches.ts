/** The batches of a graph's node: rows that reach it, of one batch of the workflow or of several. */
import { asTabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';

/** A row that reaches a node. */
export interface NodeRow {
  readonly input: unknown;
  /** Of its batch of the workflow. */
  readonly context: Context;
  /** In that batch. */
  readonly index: number;
}

interface Waiting {
  readonly row: NodeRow;
  readonly resolve: (result: unknown) => void;
}

interface Limits {
  readonly batchSize?: number | undefined;
  /** Milliseconds for which a row waits for others, those of other batches, too. */
  readonly maxBatchDelay?: number | undefined;
}

/** Makes batches of the rows that reach a node. */
export class NodeBatches {
  readonly #run: (rows: readonly NodeRow[]) => Promise<readonly unknown[]>;
  readonly #size: number;
  readonly #delay: number;
  readonly #waiting: Waiting[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Ends when the batches before have run. */
  #turn: Promise<void> = Promise.resolve();

  /** @param run runs one batch. It never throws: a row that fails has its error as the result */
  constructor(
    { batchSize = Infinity, maxBatchDelay = 0 }: Limits,
    run: (rows: readonly NodeRow[]) => Promise<readonly unknown[]>,
  ) {
    this.#run = run;
    this.#size = batchSize;
    this.#delay = maxBatchDelay;
  }

  /** Returns the result of each row. */
  async add(rows: readonly NodeRow[]): Promise<readonly unknown[]> {
    if (this.#delay > 0) return await Promise.all(rows.map((row) => this.#wait(row)));
    const results: unknown[] = [];
    for (let from = 0; from < rows.length; from += this.#size)
      results.push(...(await this.#run(rows.slice(from, from + this.#size))));
    return results;
  }

  #wait(row: NodeRow): Promise<unknown> {
    return new Promise((resolve) => {
      this.#waiting.push({ row, resolve });
      if (this.#waiting.length >= this.#size) this.#take();
      else this.#timer ??= setTimeout(() => this.#take(), this.#delay);
    });
  }

  #take(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting.splice(0);
    this.#turn = this.#turn.then(async () => {
      const results = await this.#run(batch.map(({ row }) => row));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    });
  }
}

/** Returns a context for some rows as a batch of their own, with a new map of failures. */
export function contextOf(rows: readonly NodeRow[]): Context {
  const { context } = rows[0]!;
  const failures = new Map<number, Error>();
  // No row has the index -1: the methods refuse it.
  const of = (at: number): NodeRow => rows[at] ?? { input: undefined, context, index: -1 };
  return {
    ...context,
    systemProperties: { ...context.systemProperties, batchSize: rows.length },
    requestIds: rows.map((row) => row.context.requestIds[row.index]!),
    params: rows.map((row) => row.context.params[row.index] ?? {}),
    signal: allAborted(new Set(rows.map((row) => row.context.signal))),
    failures,
    send: (at, part, resume) => of(at).context.send(of(at).index, part, resume),
    resumed: (at) => of(at).context.resumed(of(at).index),
    fail(at, error) {
      if (!failures.has(at)) failures.set(at, asTabServeError(error));
    },
    sequenceId: (at) => of(at).context.sequenceId(of(at).index),
    state: (at) => of(at).context.state(of(at).index),
    setState: (at, value) => of(at).context.setState(of(at).index, value),
    request: (at) => of(at).context.request(of(at).index),
    respond: (at, answer) => of(at).context.respond(of(at).index, answer),
  };
}

/** Returns a signal that aborts when nobody waits for any of some batches. */
function allAborted(signals: ReadonlySet<AbortSignal>): AbortSignal {
  if (signals.size === 1) return [...signals][0]!;
  const all = new AbortController();
  const check = (): void => {
    if ([...signals].every(({ aborted }) => aborted)) all.abort([...signals][0]!.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', check, { once: true });
  check();
  return all.signal;
}
