import { el } from '../page/dom.js';
import { slider } from '../page/slider.js';

/** What can be set; what `load` is told, and the deadline, which each request is told. */
export interface Settings {
  readonly batchSize: number;
  readonly maxBatchDelay: number;
  readonly maxWorkers: number;
  readonly jobQueueSize: number;
  /** Milliseconds; 0: none. */
  readonly deadline: number;
}

interface Knob {
  readonly name: string;
  readonly steps: readonly number[];
  readonly start: number;
  says(value: number): string;
}

const count = (value: number): string => value.toLocaleString('en');
const KNOBS: Readonly<Record<keyof Settings, Knob>> = {
  batchSize: { name: 'Batch size, at most', steps: [1, 2, 4, 8, 16, 32], start: 8, says: count },
  maxBatchDelay: {
    name: 'Wait for a fuller batch',
    steps: [0, 5, 10, 25, 50, 100],
    start: 0,
    says: (value) => (value === 0 ? 'no' : `${value} ms`),
  },
  maxWorkers: { name: 'Workers, at most', steps: workers(), start: 1, says: count },
  jobQueueSize: { name: 'Places in the queue', steps: [1, 10, 25, 50, 100, 250, 500], start: 100, says: count },
  deadline: {
    name: 'Deadline of a request',
    steps: [0, 25, 50, 100, 250, 500, 1000, 2500],
    start: 0,
    says: (value) => (value === 0 ? 'none' : `${count(value)} ms`),
  },
};

/** As many as there are cores, up to four. */
function workers(): readonly number[] {
  return [1, 2, 3, 4].slice(0, navigator.hardwareConcurrency);
}

export interface SettingsPanel extends Settings {
  readonly element: HTMLElement;
  /** What is true of the backend: a GPU has one worker. */
  onGpu(is: boolean): void;
  /** What the model makes of batches. */
  rows(rowsPerRun: number | 'any' | undefined): void;
}

/** Sliders for all that can be set. `changed` is told which. */
export function settingsPanel(changed: (key: keyof Settings) => void): SettingsPanel {
  const sliders = Object.fromEntries(
    Object.entries(KNOBS).map(([key, { name, steps, start, says }]) => {
      const shape = {
        value: steps.indexOf(start),
        min: 0,
        max: steps.length - 1,
        step: 1,
        says: (index: number): string => says(steps[index]!),
      };
      return [key, slider(name, shape, () => changed(key as keyof Settings))];
    }),
  ) as Record<keyof Settings, ReturnType<typeof slider>>;
  const value = (key: keyof Settings): number => KNOBS[key].steps[sliders[key].value]!;
  const batches = el('p', { class: 'quiet' });
  const gpu = el('p', { class: 'quiet', hidden: '' }, 'Workers are for WASM: a GPU has one, with two batches in it.');
  sliders.batchSize.element.append(batches);
  sliders.maxWorkers.element.append(gpu);
  return {
    element: el('div', { class: 'knobs' }, ...Object.values(sliders).map(({ element }) => element)),
    get batchSize() {
      return value('batchSize');
    },
    get maxBatchDelay() {
      return value('maxBatchDelay');
    },
    get maxWorkers() {
      return value('maxWorkers');
    },
    get jobQueueSize() {
      return value('jobQueueSize');
    },
    get deadline() {
      return value('deadline');
    },
    onGpu: (is) => void (gpu.hidden = !is),
    rows(rowsPerRun) {
      batches.textContent =
        rowsPerRun === 'any'
          ? 'This model computes all rows of a batch at once.'
          : `This model computes ${rowsPerRun === 1 ? 'one row' : `${rowsPerRun} rows`} at a time, whatever the batch.`;
    },
  };
}
