import type { Backend, Params, Timings } from '../src/index.js';
import type { Live, Model, Picture } from './demo.js';
import { latestOnly } from './page/latest.js';

/** The page, as the runner sees it. */
export interface Page {
  /** Returns the current input. */
  current(): Picture | undefined;
  /** Returns the camera while it runs. */
  live(): Live | undefined;
  params(): Params;
  /** Is called when the model is ready. */
  ready(backend: Backend): void;
  /** Is called when another worker or backend runs the model, after a loss. */
  moved(backend: Backend): void;
  /** Is called when the model could not be opened, or can run no longer. */
  failed(error: unknown): void;
  /** Shows an answer. `still` returns whether the answer is the newest. */
  answered(answer: Answer, still: () => boolean): Promise<void>;
  /** Is called when a request failed because of its input. */
  refused(error: unknown, file: File | undefined): void;
  /** Is called when a file waits for the model. */
  waits(file: File): void;
}

/** An answer, and the request. */
interface Answer {
  readonly result: unknown;
  readonly picture: Picture;
  readonly params: Params;
  /** The file, if one was given to `ask`. */
  readonly file: File | undefined;
  readonly stages: Timings;
  /** Milliseconds from the request to the answer; undefined for a frame of the camera. */
  readonly roundTrip: number | undefined;
}

export interface Runner {
  /** Opens a model, and disposes of the one before. */
  open(load: (signal: AbortSignal) => Promise<Model>): Promise<void>;
  /** Disposes of the model. */
  close(): void;
  /**
   * Predicts a file, or the page's current input; of a camera, one frame after the other until the next call. Of the
   * calls that come while a request runs, only the last counts.
   */
  ask(file?: File): void;
  /** Discards the answers to all earlier requests. @returns a function: whether nothing newer has come since */
  forget(): () => boolean;
}

/** Runs one model at a time, and one request at a time. */
export function runner(page: Page): Runner {
  let model: Model | undefined;
  let opening = new AbortController();
  /** A file that waits for the model. */
  let waiting: File | undefined;
  let epoch = 0;
  /** The stages' times of the last response. */
  let stages: Timings = {};

  const close = (): void => {
    void model?.dispose();
    model = undefined;
  };
  const fail = (error: unknown): void => {
    close();
    page.failed(error);
  };
  const since = (): (() => boolean) => {
    const mine = epoch;
    return () => mine === epoch;
  };

  /** Ends the reading of a camera's frames. */
  let following = new AbortController();

  /** Predicts the frames of a camera, until it stops or there is another request. */
  const follow = async (to: Required<Model>, { video, predicted }: Live, signal: AbortSignal): Promise<void> => {
    const still = since();
    const params = page.params();
    try {
      for await (const { result, frame } of to.frames(video, { signal, params })) {
        if (!still() || to !== model) return;
        predicted(frame);
        await page.answered({ result, picture: video, params, file: undefined, stages, roundTrip: undefined }, still);
      }
    } catch (error) {
      if (still() && to === model && !signal.aborted) page.refused(error, undefined);
    }
  };

  const next = latestOnly(async (file: File | undefined) => {
    const to = model;
    const still = since();
    if (!to) {
      waiting = file;
      if (file) page.waits(file);
      return;
    }
    const live = file ? undefined : page.live();
    if (live && hasFrames(to)) return await follow(to, live, following.signal);
    const picture = file ?? page.current();
    if (picture === undefined) return;
    const params = page.params();
    const start = performance.now();
    const [outcome] = await Promise.allSettled([to.predict(picture as never, { params })]);
    const roundTrip = performance.now() - start;
    if (!still()) return;
    if (to !== model) return void ask(file);
    if (outcome.status === 'fulfilled')
      return await page.answered({ result: outcome.value, picture, params, file, stages, roundTrip }, still);
    page.refused(outcome.reason, file);
  });
  const ask = (file?: File): void => {
    following.abort();
    following = new AbortController();
    next(file);
  };

  return {
    async open(load) {
      opening.abort();
      close();
      const { signal } = (opening = new AbortController());
      try {
        const opened = await load(signal);
        if (signal.aborted) return void opened.dispose();
        model = opened;
        opened.on('response', ({ timings }) => (stages = timings));
        opened.on('backendchange', page.moved);
        opened.on('fail', fail);
        page.ready(opened.backend!);
        ask(waiting);
        waiting = undefined;
      } catch (error) {
        if (!signal.aborted) fail(error);
      }
    },
    close() {
      opening.abort();
      close();
    },
    ask,
    forget() {
      epoch += 1;
      following.abort();
      waiting = undefined;
      return since();
    },
  };
}

function hasFrames(model: Model): model is Required<Model> {
  return model.frames !== undefined;
}
