import type { Progress } from '../../src/index.js';
import { button, el } from '../page/dom.js';
import { bytes } from '../page/format.js';
import { errorView } from './words.js';

export interface LoadState {
  readonly element: HTMLElement;
  /** Starts again. `size`: the known size of the weights; `where`: e.g. `on WebGPU`. */
  start(size: number, where: string): void;
  progress(progress: Progress): void;
  failed(error: unknown): void;
  done(): void;
}

/** Shows how the model loads: the download, its opening, or the error. */
export function loadState(retry: () => void): LoadState {
  const what = el('span', { class: 'load-what' });
  const amount = el('span', { class: 'load-amount' });
  const bar = el('progress', { 'aria-label': 'Model' });
  const message = el('div', { class: 'failure-message' });
  const element = el(
    'div',
    { class: 'load' },
    el('div', { class: 'loading' }, el('p', { class: 'load-line' }, what, amount), bar),
    el(
      'div',
      { class: 'failure' },
      el('p', { class: 'failure-title' }, 'The model could not be opened'),
      message,
      button('Try again', retry),
    ),
  );

  /** What was last said of each file. */
  const files = new Map<string, Progress>();
  let expected = 0;
  let destination = '';
  let opening: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    what.textContent = `Opening ${destination}…`;
    amount.textContent = '';
    bar.removeAttribute('value');
  };
  const state = (name: 'loading' | 'failed' | 'ready'): void => {
    clearTimeout(opening);
    element.dataset['state'] = name;
  };

  return {
    element,
    start(size, where) {
      state('loading');
      files.clear();
      expected = size;
      destination = where;
      what.textContent = 'Starting the worker…';
      amount.textContent = '';
      bar.removeAttribute('value');
    },
    progress(progress) {
      const { loaded, total: known } = progress.overall;
      const total = Math.max(expected, known ?? loaded);
      clearTimeout(opening);
      if (progress.phase === 'download') files.set(progress.file, progress);
      const [model, engine] = [false, true].map((is) =>
        [...files.values()].filter(({ file }) => isOfEngine(file) === is),
      );
      what.textContent = engine!.length > 0 ? 'Downloading the model and its engine' : 'Downloading the model';
      amount.textContent = [
        `model ${amountOf(model!, expected)}`,
        ...(engine!.length > 0 ? [`engine ${amountOf(engine!, 0)}`] : []),
      ].join(', ');
      bar.max = total;
      bar.value = loaded;
      // Between two small files all known bytes have arrived for a moment.
      if (loaded === known) opening = setTimeout(open, 120);
    },
    failed(error) {
      state('failed');
      message.replaceChildren(...errorView(error));
    },
    done: () => state('ready'),
  };
}

/** Returns whether a file is the engine's, and not the model's. */
function isOfEngine(file: string): boolean {
  return /\.(wasm|mjs)$/.test(file);
}

/** Returns how much of files has arrived: `0.4 MB of 3.1 MB`. @param expected the size that they have at least */
function amountOf(files: readonly Progress[], expected: number): string {
  const sum = (of: (file: Progress) => number): number => files.reduce((total, file) => total + of(file), 0);
  const loaded = sum((file) => file.loaded);
  return `${bytes(loaded)} of ${bytes(
    Math.max(
      expected,
      sum((file) => file.total ?? file.loaded),
    ),
  )}`;
}
