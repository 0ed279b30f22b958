import { asTabServeError } from '../../contract/errors.js';
import { OVER_HTTP, resolveSettings, type OverHttp } from '../../contract/settings.js';
import type { Clock } from '../../shared/clock.js';
import type { ServedClient, ServedRequestOptions, ServedSequence } from '../served-client.js';
import type { ServedVersion } from '../served-version.js';
import { badRequest, unavailable } from '../serving-error.js';
import type { HttpRequest } from './messages.js';

/** TorchServe's headers. */
const HEADER = 'ts_request_sequence_';

/** What a request says of its sequence. */
export interface SequenceHeaders {
  /** Undefined if the server is to choose it. */
  readonly id: string | undefined;
  /** Whether it is the sequence's last request. */
  readonly isLast: boolean;
}

/**
 * Returns what a request says of its sequence, by TorchServe's headers `ts_request_sequence_id`, `…_start` and `…_end`;
 * undefined if it is of none.
 * @throws `invalid-input` for a header that is neither true nor false, and for a last request without an id
 */
export function sequenceOf({ headers }: HttpRequest): SequenceHeaders | undefined {
  const id = headers.get(`${HEADER}id`) ?? undefined;
  const [starts, isLast] = [flag(headers, 'start'), flag(headers, 'end')];
  if (id === '' || (id !== undefined && !/^[\x21-\x7e]{1,200}$/.test(id)))
    throw badRequest(`${HEADER}id: expected 1 to 200 visible ASCII characters.`);
  if (id === undefined && isLast) throw badRequest(`${HEADER}end: the request has no ${HEADER}id.`);
  return id === undefined && !starts ? undefined : { id, isLast };
}

function flag(headers: Headers, name: string): boolean {
  const value = headers.get(HEADER + name)?.toLowerCase() ?? 'false';
  if (value !== 'true' && value !== 'false') throw badRequest(`${HEADER + name}: expected true or false.`);
  return value === 'true';
}

interface OpenSequence {
  readonly sequence: ServedSequence;
  /** Settles when the requests that came so far are answered. */
  last: Promise<unknown>;
  /** Requests that are not answered. */
  active: number;
}

/** The sequences that requests over HTTP have opened with one version of a model, by their ids. */
export class HttpSequences {
  readonly #client: ServedClient;
  readonly #clock: Clock;
  readonly #limits: OverHttp;
  readonly #open = new Map<string, OpenSequence>();

  /** @throws `model-config` naming a key of the archive that is wrong */
  constructor({ options: { client, description } }: ServedVersion, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    this.#limits = resolveSettings(OVER_HTTP, description.config) as OverHttp;
  }

  /**
   * Predicts the next input of a sequence, which is opened by its first request. Requests of one sequence run one after
   * the other.
   * @returns the result, the sequence's id, and whether this request has opened it
   * @throws `not-initialized` (503) for too many sequences, and too many requests that wait; what `Sequence.predict`
   *   throws
   */
  async predict(
    { id: given, isLast }: SequenceHeaders,
    input: () => Promise<unknown>,
    options: ServedRequestOptions,
  ): Promise<{ readonly id: string; readonly isFirst: boolean; readonly result: unknown }> {
    const id = given ?? newId();
    const known = this.#open.get(id);
    const open = known ?? this.#begin(id);
    const { maxSequenceJobQueueSize: most } = this.#limits;
    if (open.active > most)
      throw unavailable(
        `Sequence ${id} has ${most} requests that wait (maxSequenceJobQueueSize). Await their answers.`,
      );
    open.active += 1;
    // The next request with this id opens another sequence.
    if (isLast) this.#open.delete(id);
    const answer = open.last.then(async () => await open.sequence.predict(await input(), options));
    open.last = answer.catch(() => {});
    try {
      return { id, isFirst: known === undefined, result: await answer };
    } finally {
      open.active -= 1;
      if (isLast) this.#end(id, open);
    }
  }

  /** Ends all sequences. */
  close(): void {
    for (const [id, open] of this.#open) this.#end(id, open);
  }

  #begin(id: string): OpenSequence {
    const { maxNumSequence, sequenceMaxIdleMSec, sequenceTimeoutMSec } = this.#limits;
    if (this.#open.size >= maxNumSequence)
      throw unavailable(`${maxNumSequence} sequences are open (maxNumSequence). End one, with ${HEADER}end: true.`);
    const sequence = this.#client.openSequence(sequenceMaxIdleMSec > 0 ? { idleTimeout: sequenceMaxIdleMSec } : {});
    const open: OpenSequence = { sequence, last: Promise.resolve(), active: 0 };
    this.#open.set(id, open);
    const cancel =
      sequenceTimeoutMSec > 0 ? this.#clock.schedule(() => this.#end(id, open), sequenceTimeoutMSec) : () => {};
    sequence.ended.addEventListener(
      'abort',
      () => {
        cancel();
        if (this.#open.get(id) === open) this.#open.delete(id);
      },
      { once: true },
    );
    return open;
  }

  #end(id: string, open: OpenSequence): void {
    if (this.#open.get(id) === open) this.#open.delete(id);
    open.sequence.end().catch((error: unknown) => console.warn(`tabserve: ${asTabServeError(error).message}`));
  }
}

/** Returns an id that no other client can guess: with the id, it could continue the sequence. */
function newId(): string {
  // A page without HTTPS has no crypto.randomUUID.
  return `sequence-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
}
