import { errorFromData, type ErrorData } from '../../contract/error-data.js';
import { asTabServeError, blameOf, messageOf, TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { HandleAnswer, HandleRequest } from '../../contract/wire.js';
import type { Message } from './inputs.js';
import type { RetainedValue, KnownValues } from './retained-value.js';
import type { Job } from './job.js';
import type { Chunks } from './chunks.js';

/** Jobs that a worker runs together: one message to the worker, and one answer back. */
export class Batch {
  /** Number of rows. */
  readonly size: number;
  /** Whether it is the replay of a job that has lost a worker, which must run alone. */
  readonly isReplay: boolean;
  readonly #jobs: readonly Job[];

  /** @param onAbandon called when no caller waits for any of the jobs any more */
  constructor(jobs: readonly Job[], onAbandon: (batch: Batch) => void) {
    this.#jobs = jobs;
    this.size = jobs.reduce((sum, { size }) => sum + size, 0);
    this.isReplay = jobs.some(({ losses }) => losses.length > 0);
    for (const job of jobs) job.onAbandon = () => this.pending.length === 0 && onAbandon(this);
  }

  get id(): string {
    return this.#jobs[0]!.id;
  }

  /** Number of jobs, settled ones included: an aborted run continues. */
  get jobs(): number {
    return this.#jobs.length;
  }

  /** The jobs that a caller still waits for. */
  get pending(): readonly Job[] {
    return this.#jobs.filter(({ settled }) => !settled);
  }

  /** What the page retains of its rows. */
  get retained(): readonly RetainedValue[] {
    return this.#jobs.flatMap((job) => job.retained);
  }

  /** Whether it is an explanation, beside which its worker answers other requests. */
  get isExplanation(): boolean {
    return this.#jobs[0]!.isExplanation;
  }

  /** Whether its worker waits for a reader of its answer, and so has nothing to do. */
  get isPaused(): boolean {
    // A streamed answer is that of one job, which is alone.
    return this.#jobs[0]!.isPaused;
  }

  /** The chunks of its answer, if it is streamed: then it has one job, of one row. */
  get chunks(): Chunks | undefined {
    return this.#jobs[0]!.chunks;
  }

  /**
   * Returns what is sent to the worker, and what moves there with it.
   * @param known the values of which the worker needs only the key
   * @throws `not-cloneable` if there is no memory for a copy of an input
   */
  message(known: KnownValues): readonly [HandleRequest, Transferable[]] {
    const messages = this.#messages(known);
    const { retained } = this;
    const { id, request, chunks } = this.#jobs[0]!;
    const [ids, params]: [string[], Params[]] = [[], []];
    for (const job of this.#jobs)
      for (let index = 0; index < job.size; index++) {
        ids.push(job.size === 1 ? job.id : `${job.id}/${index}`);
        params.push(job.params);
      }
    const rows = messages.map(({ value }) => value);
    const transferables = new Set<Transferable>();
    for (const message of messages) for (const one of message.transferables) transferables.add(one);
    return [
      {
        id,
        request,
        ids,
        params,
        rows,
        ...(chunks && { room: chunks.room }),
        ...(chunks?.resume !== undefined && { resumed: chunks.resume }),
        ...this.#sequences(known, transferables),
        ...this.#http(),
        ...(retained.length > 0 && { kept: retained.map(({ key }) => key) }),
      },
      [...transferables],
    ];
  }

  /** Returns the sequences of the rows. A request of a sequence has one row. */
  #sequences(known: KnownValues, transferables: Set<Transferable>): Pick<HandleRequest, 'sequences'> {
    if (this.#jobs.every(({ sequence }) => sequence === undefined)) return {};
    const rows = this.#jobs.map((job) =>
      Array.from({ length: job.size }, () => job.sequenceData(known, transferables)),
    );
    return { sequences: rows.flat() };
  }

  /** Returns the requests over HTTP that have brought the rows. */
  #http(): Pick<HandleRequest, 'http'> {
    if (this.#jobs.every(({ http }) => http === undefined)) return {};
    return { http: this.#jobs.flatMap(({ size, http }) => Array.from({ length: size }, () => http?.request)) };
  }

  #messages(known: KnownValues): readonly Message[] {
    try {
      return this.#jobs.flatMap((job) => job.messages(known));
    } catch (cause) {
      throw new TabServeError('not-cloneable', `The input could not be copied: ${messageOf(cause)}`, { cause });
    }
  }

  /** Undoes `message`, whose result could not be sent: all inputs are still on the page. */
  rollback(): void {
    for (const job of this.pending) job.rollback();
  }

  /** Passes on what the handler has said of the answers over HTTP: to a job, of its first row. */
  passHttp(answers: NonNullable<HandleAnswer['http']>): void {
    let from = 0;
    for (const job of this.#jobs) {
      const answer = answers[from];
      if (answer && !job.settled) job.http?.onAnswer(answer);
      from += job.size;
    }
  }

  /**
   * Settles the jobs with their rows of an answer.
   * @returns the jobs that have to run again with everything that the page retains of them, because the worker no longer
   *   has it
   */
  resolve({ rows, timings, nodes, states, handlerTime, memory }: HandleAnswer): readonly Job[] {
    const again: Job[] = [];
    let from = 0;
    for (const job of this.#jobs) {
      const state = states?.[from];
      const own = rows.slice(from, (from += job.size));
      if (own.some(lacksState) && job.sendInFull()) again.push(job);
      else
        job.resolve({
          timings,
          ...(nodes && { nodes }),
          handlerTime,
          memory,
          batchSize: this.size,
          state,
          rows: own,
        });
    }
    return again;
  }

  reject(error: TabServeError): void {
    for (const job of this.#jobs) job.reject(error);
  }
}

/** Returns whether a row has failed because its worker does not have what an earlier request left there. */
function lacksState(row: HandleAnswer['rows'][number]): boolean {
  return !row.ok && (row.error as ErrorData).code === 'state-lost';
}

/**
 * Checks that the answer has each row; a worker of another library or version may answer anything.
 * @throws `worker-failed` if it has not
 */
export function checkAnswer(answer: HandleAnswer, rows: number): void {
  const { rows: answers, failure } = (answer ?? {}) as Partial<HandleAnswer>;
  if (failure !== undefined && Array.isArray(answers)) return;
  const fits =
    Array.isArray(answers) && answers.length === rows && answers.every((row) => typeof row?.ok === 'boolean');
  if (!fits)
    throw new TabServeError('worker-failed', `The worker did not answer a batch of ${rows} rows with ${rows} rows.`);
}

/**
 * Returns why a whole batch failed: its own failure, or a row's failure that blames the worker. Returns undefined if
 * the batch was answered.
 */
export function failureOf({ rows, failure }: HandleAnswer): TabServeError | undefined {
  if (failure !== undefined) return asTabServeError(errorFromData(failure as ErrorData));
  for (const row of rows) {
    if (row.ok) continue;
    const error = row.error as ErrorData;
    if (blameOf(error.code as never) === 'worker') return asTabServeError(errorFromData(error));
  }
  return undefined;
}
