import type { Backend, Params, Timings } from '../src/index.js';
import type { Model, Picture } from './demo.js';
import { latestOnly } from './page/latest.js';

/** What the runner asks of the page, and tells it. */
export interface Page {
  /** What to predict now. */
  current(): Picture | undefined;
  params(): Params;
  /** The model is there. */
  ready(backend: Backend): void;
  /** It runs elsewhere now: the worker or its GPU was lost. */
  moved(backend: Backend): void;
  /** The model could not be opened, or is gone. */
  failed(error: unknown): void;
  /** `roundTrip`: milliseconds from asking to the answer. `still`: whether nothing newer has come meanwhile. */
  answered(
    result: unknown,
    stages: Timings,
    roundTrip: number,
    file: File | undefined,
    still: () => boolean,
  ): Promise<void>;
  /** The input was at fault. */
  refused(error: unknown, file: File | undefined): void;
  /** A file is asked once the model is there. */
  waits(file: File): void;
}

export interface Runner {
  /** Opens a model in place of the one before. */
  open(load: (signal: AbortSignal) => Promise<Model>): Promise<void>;
  /** Ends the model: nothing is shown that would use it. */
  close(): void;
  /** Predicts a file, or what the page has now. Of what is asked while a request runs, only the last is kept. */
  ask(file?: File): void;
  /** What was asked so far is not to be shown. @returns whether nothing newer has come since */
  forget(): () => boolean;
}

/** One model at a time, and one request at a time. */
export function runner(page: Page): Runner {
  let model: Model | undefined;
  let opening = new AbortController();
  /** Asked before the model was there. */
  let waiting: File | undefined;
  let epoch = 0;
  /** Of the last response. */
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

  const ask = latestOnly(async (file: File | undefined) => {
    const to = model;
    const still = since();
    if (!to) {
      waiting = file;
      if (file) page.waits(file);
      return;
    }
    const picture = file ?? page.current();
    if (picture === undefined) return;
    const start = performance.now();
    const [outcome] = await Promise.allSettled([to.predict(picture as never, { params: page.params() })]);
    const roundTrip = performance.now() - start;
    if (!still()) return;
    if (to !== model) return void ask(file);
    if (outcome.status === 'fulfilled') return await page.answered(outcome.value, stages, roundTrip, file, still);
    page.refused(outcome.reason, file);
  });

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
      waiting = undefined;
      return since();
    },
  };
}
