import { loadScript } from '../../shared/load-script.js';
import type { FramesOptions } from './frame-source.js';
import type { Requester } from '../requests/requester.js';
import type { FrameAnswer, FrameReader } from './frame-reader.js';
import type { FrameSource } from './frame-source.js';
import { readOnce } from './answer-stream.js';
import type { FrameSequence } from './read-frames.js';

/**
 * Returns the answers to the frames of a source. Everything is checked, and the source started, when they are first
 * read.
 */
export function answerFrames<Result>(
  requester: Requester,
  source: FrameSource,
  options: FramesOptions,
  sequence?: FrameSequence,
): AsyncIterable<FrameAnswer<Result>> {
  return readOnce<FrameAnswer<Result>>(() => {
    /** Undefined until the first read; it contains undefined when there is nothing to read any more. */
    let reader: Promise<FrameReader<Result> | undefined> | undefined;
    const open = async (): Promise<FrameReader<Result>> => {
      requester.checkOpen();
      const readFrames = await loadScript(async () => (await import('./read-frames.js')).readFrames);
      return readFrames<Result>(requester, source, options, sequence);
    };
    return {
      async next() {
        try {
          const opened = await (reader ??= open());
          return opened ? await opened.next() : DONE;
        } catch (error) {
          reader = Promise.resolve(undefined);
          throw error;
        }
      },
      async return() {
        const opened = reader;
        reader = Promise.resolve(undefined);
        // The reader of the pending item gets the failure.
        await opened?.then(
          (one) => one?.return(),
          () => {},
        );
        return DONE;
      },
    };
  });
}

const DONE = { done: true, value: undefined } as const;
