import { transfer as comlinkTransfer } from 'comlink';
import type { Context } from '../../contract/handler.js';
import type { HttpAnswer } from '../../contract/http.js';
import type { Observation } from '../../contract/metrics.js';
import type { Envelope, HandleAnswer, HandleRequest } from '../../contract/wire.js';
import { errorToData } from '../../contract/error-data.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { Engine } from '../engines/engine.js';
import { Definitions } from '../../shared/metrics/definitions.js';
import type { HostOptions } from './host.js';
import type { OpenHandler } from './open-handlers.js';
import { ChunkSender } from './chunk-sender.js';
import { withAnswer } from './http-rows.js';
import type { LargerRuns } from './larger-runs.js';
import { keepStates, takeStates } from './retained-states.js';
import { Recorder } from './recorder.js';
import { runBatch } from './run-batch.js';

/** The shortest time between two heartbeats of a batch. */
const HEARTBEAT_MS = 1000;

/** Runs the batches of the page's messages, and tells the page that they make progress. */
export class Batches {
  readonly #emit: HostOptions['emit'];
  readonly #sendChunk: HostOptions['sendChunk'];
  /** The batches that are not answered yet, by their ids. */
  readonly #running = new Map<
    string,
    { readonly aborter: AbortController; readonly chunks: ChunkSender | undefined }
  >();
  /** The batches whose images are not closed yet. */
  readonly #closing = new Set<Promise<void>>();
  /** The definitions of the handler's metrics. */
  readonly #definitions = new Definitions();
  /** What the handler recorded in `initialize`. The first batch's answer carries it. */
  recorded: readonly Observation[] = [];
  /** The last heartbeat of the worker itself, outside of any batch. */
  readonly #workerBeat = { id: undefined, sentAt: 0 };

  readonly #largerRuns: Pick<LargerRuns, 'take'>;

  constructor(
    emit: HostOptions['emit'],
    sendChunk: HostOptions['sendChunk'],
    largerRuns: Pick<LargerRuns, 'take'> = { take: () => undefined },
  ) {
    this.#emit = emit;
    this.#sendChunk = sendChunk;
    this.#largerRuns = largerRuns;
  }

  /** Returns a recorder that checks metrics against those that the handler has defined before. */
  recorder(): Recorder {
    return new Recorder(this.#definitions, this.recorded);
  }

  /**
   * Runs a batch, and closes its images.
   * @param opened returns the page's handler. @throws `not-initialized`
   */
  handle(call: HandleRequest, opened: () => OpenHandler, engine: Engine | undefined): Promise<Envelope<HandleAnswer>> {
    const answer = this.#run(call, opened, engine);
    const close = (): Promise<void> => closeImages(call.rows);
    const closing = answer.then(close, close).then(() => void this.#closing.delete(closing));
    this.#closing.add(closing);
    return answer;
  }

  async #run(
    call: HandleRequest,
    opened: () => OpenHandler,
    engine: Engine | undefined,
  ): Promise<Envelope<HandleAnswer>> {
    const { id, room, kept, sequences } = call;
    const aborter = new AbortController();
    const { signal } = aborter;
    const http: (HttpAnswer | undefined)[] = [];
    const post = (chunk: unknown, resume: unknown, list: Transferable[]): void =>
      this.#sendChunk(
        { type: 'chunk', id, chunk, ...(resume !== undefined && { resume }), ...(http[0] && { http: http[0] }) },
        list,
      );
    const chunks = room === undefined ? undefined : new ChunkSender(room, post, signal);
    this.#running.set(id, { aborter, chunks });
    const recorder = this.recorder();
    this.recorded = [];
    const started = performance.now();
    recorder.heartbeat = { id, sentAt: started };
    const answer = (
      rows: readonly Envelope<unknown>[],
      failure?: unknown,
      states?: readonly unknown[],
    ): Envelope<HandleAnswer> => {
      const handlerTime = performance.now() - started;
      const larger = this.#largerRuns.take();
      const metrics = recorder.observations.length > 0 && { metrics: recorder.observations };
      return {
        ok: true,
        value: {
          rows,
          ...(failure !== undefined && { failure }),
          ...(states && { states }),
          timings: recorder.timings,
          ...(Object.keys(recorder.nodes).length > 0 && { nodes: recorder.nodes }),
          handlerTime,
          ...(http.length > 0 && { http }),
          ...(kept && { kept: kept.filter((key) => opened().environment.kept.has(key)) }),
          ...metrics,
          ...(larger && { larger }),
          memory: engine?.memory() ?? 0,
        },
      };
    };
    try {
      const open = opened();
      const { kept: values } = open.environment;
      const own = sequences && { sequenceIds: sequences.map((one) => one?.id), states: takeStates(sequences, values) };
      const { rows, transferables, states } = await runBatch(
        { ...call, ...own },
        {
          ...open,
          metrics: recorder,
          signal,
          onAnswer: (index, answered) => void (http[index] = withAnswer(http[index], answered)),
          send: chunks && ((_, part, resume) => chunks.send(part, resume)),
        },
      );
      if (sequences && states) keepStates(sequences, states, values);
      await chunks?.allSent();
      const value = answer(rows, undefined, states);
      return transferables.length > 0 ? comlinkTransfer(value, transferables) : value;
    } catch (error) {
      return answer([], errorToData(asTabServeError(error)));
    } finally {
      chunks?.end();
      this.#running.delete(id);
    }
  }

  /** Sends a heartbeat: a batch that goes from stage to stage is alive, however long it takes. */
  heartbeat(context: Context | undefined): void {
    const { metrics } = context ?? {};
    this.#beat((metrics instanceof Recorder && metrics.batch.heartbeat) || this.#workerBeat);
  }

  #beat(last: { readonly id: string | undefined; sentAt: number }): void {
    const now = performance.now();
    if (now - last.sentAt < HEARTBEAT_MS) return;
    last.sentAt = now;
    this.#emit({ type: 'heartbeat', id: last.id });
  }

  cancel(id: string): void {
    this.#running
      .get(id)
      ?.aborter.abort(new TabServeError('aborted', 'No caller waits for the answer to this request any more.'));
  }

  /** Aborts all batches, and waits until their images are closed. */
  async closeImages(): Promise<void> {
    for (const id of this.#running.keys()) this.cancel(id);
    await Promise.all(this.#closing);
  }

  more(id: string): void {
    this.#running.get(id)?.chunks?.more();
  }
}

type Image = ImageBitmap | VideoFrame;

/**
 * Closes the bitmaps and frames in a batch's rows, after its answer has been sent: a handler may have put one into it.
 * The worker owns them, and unclosed frames would starve the browser's decoder.
 */
async function closeImages(rows: readonly unknown[]): Promise<void> {
  const images = new Set<Image>();
  collectImages(rows, images, new Set());
  // Most requests have none, and need no timer.
  if (images.size === 0) return;
  await new Promise((resolve) => setTimeout(resolve));
  for (const image of images) image.close();
}

function collectImages(value: unknown, images: Set<Image>, seen: Set<unknown>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (isImage(value)) images.add(value);
  else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const inner of Object.values(value)) collectImages(inner, images, seen);
}

/** Returns whether a value is a picture. Not every browser has both classes. */
function isImage(value: unknown): value is Image {
  return (
    (typeof ImageBitmap !== 'undefined' && value instanceof ImageBitmap) ||
    (typeof VideoFrame !== 'undefined' && value instanceof VideoFrame)
  );
}
