import { el } from '../page/dom.js';
import { slider } from '../page/slider.js';

/** The settings: options of `load`, and the timeout of each request. */
export interface Settings {
  readonly batchSize: number;
  readonly maxBatchDelay: number;
  readonly maxWorkers: number;
  readonly jobQueueSize: number;
  /** Milliseconds; 0: none. */
  readonly deadline: number;
}

interface Option {
  readonly name: string;
  readonly steps: readonly number[];
  readonly start: number;
  says(value: number): string;
}

const count = (value: number): string => value.toLocaleString('en');
const OPTIONS: Readonly<Record<keyof Settings, Option>> = {
  batchSize: { name: 'Maximum batch size', steps: [1, 2, 4, 8, 16, 32], start: 8, says: count },
  maxBatchDelay: {
    name: 'Maximum batch delay',
    steps: [0, 5, 10, 25, 50, 100],
    start: 0,
    says: (value) => (value === 0 ? 'none' : `${value} ms`),
  },
  maxWorkers: { name: 'Maximum workers', steps: workers(), start: 1, says: count },
  jobQueueSize: { name: 'Queue size', steps: [1, 10, 25, 50, 100, 250, 500], start: 100, says: count },
  deadline: {
    name: 'Request timeout',
    steps: [0, 25, 50, 100, 250, 500, 1000, 2500],
    start: 0,
    says: (value) => (value === 0 ? 'none' : `${count(value)} ms`),
  },
};

/** Returns 1 to the number of cores, up to four. */
function workers(): readonly number[] {
  return [1, 2, 3, 4].slice(0, navigator.hardwareConcurrency);
}

export interface SettingsPanel extends Settings {
  readonly element: HTMLElement;
  /** Reads settings of the address; what is none of the offered values is the default. */
  read(texts: Readonly<Record<string, string>>): void;
  /** Returns the settings that are not the default, for the address. */
  write(): Readonly<Record<keyof Settings, string | undefined>>;
  /** Says that a GPU has one worker. */
  onGpu(is: boolean): void;
  /** Says how many rows the model computes at once. */
  rows(rowsPerRun: number | 'any' | undefined): void;
}

/** Creates a slider for each setting. `changed` gets the setting's name. */
export function settingsPanel(changed: (key: keyof Settings) => void): SettingsPanel {
  const options = Object.entries(OPTIONS) as [keyof Settings, Option][];
  const sliders = Object.fromEntries(
    options.map(([key, { name, steps, start, says }]) => {
      const shape = {
        value: steps.indexOf(start),
        min: 0,
        max: steps.length - 1,
        step: 1,
        says: (index: number): string => says(steps[index]!),
      };
      return [key, slider(name, shape, () => changed(key))];
    }),
  ) as Record<keyof Settings, ReturnType<typeof slider>>;
  const value = (key: keyof Settings): number => OPTIONS[key].steps[sliders[key].value]!;
  const batches = el('p', { class: 'quiet' });
  const gpu = el(
    'p',
    { class: 'quiet', hidden: '' },
    'Only WASM can have several workers. A GPU has one, with two batches at a time.',
  );
  sliders.batchSize.element.append(batches);
  sliders.maxWorkers.element.append(gpu);
  return {
    element: el('div', { class: 'options' }, ...Object.values(sliders).map(({ element }) => element)),
    read(texts) {
      for (const [key, { steps, start }] of options) {
        const index = steps.indexOf(Number(texts[key] ?? start));
        sliders[key].set(index < 0 ? steps.indexOf(start) : index);
      }
    },
    write() {
      const texts = options.map(([key, { start }]) => [key, value(key) === start ? undefined : String(value(key))]);
      return Object.fromEntries(texts) as Record<keyof Settings, string | undefined>;
    },
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
