import { BaseHandler, expose, transferResult, type Context, type Tensors } from '../../../src/worker.ts';

/** What a request asks for by `params`. */
export interface Asked {
  /** How many parts it sends. */
  readonly parts: number;
  /** The part before which it ends its worker; in each worker, if the request is replayed. */
  readonly closesBefore?: number;
}

/** A part of its answer: numbers that are transferred. */
export interface Part {
  readonly number: number;
  readonly data: Float32Array;
}

/** What it has seen of its requests: how many parts it sent, and how many requests were aborted. */
const seen = { sent: 0, aborted: 0 };

/** Sends parts of its answer; the result is the number of parts. */
class Streaming extends BaseHandler {
  declare readonly paramsType?: Asked;
  declare readonly partType?: Part;

  override async postprocess(_outputs: Tensors, context: Context): Promise<readonly number[]> {
    const { parts, closesBefore } = context.params[0] as unknown as Asked;
    context.signal.addEventListener('abort', () => (seen.aborted += 1));
    for (let number = 1; number <= parts; number++) {
      if (number === closesBefore) {
        close();
        await new Promise(() => {});
      }
      const data = new Float32Array(1000).fill(number);
      await context.send(0, transferResult({ number, data }, [data.buffer]));
      seen.sent += 1;
    }
    return [parts];
  }

  override async describeHandle(): Promise<typeof seen> {
    return seen;
  }
}

export type { Streaming };
expose(Streaming);
