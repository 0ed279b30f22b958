import { el } from '../page/dom.js';
import type { Settings } from '../page/route.js';
import { slider } from '../page/slider.js';
import type { WritingParams } from './writer.js';

export interface WritingSettings {
  readonly element: HTMLElement;
  readonly params: WritingParams;
  /** What differs from the defaults, for the address. */
  readonly changed: Readonly<Record<string, string | undefined>>;
  restore(settings: Settings): void;
}

const DEFAULTS = { temperature: 0.8, topK: 40, length: 200, seed: 1 } as const;

/** Creates the fields for the settings of the next answer. */
export function writingSettings(changed: () => void): WritingSettings {
  const temperature = slider(
    'Temperature',
    {
      value: DEFAULTS.temperature,
      min: 0,
      max: 1.5,
      step: 0.1,
      says: (value) => (value === 0 ? '0, always the likeliest' : value.toFixed(1)),
    },
    changed,
  );
  const topK = slider(
    'Top-k',
    { value: DEFAULTS.topK, min: 1, max: 100, step: 1, says: (value) => `the ${value} likeliest tokens` },
    changed,
  );
  const length = slider(
    'Length',
    { value: DEFAULTS.length, min: 10, max: 400, step: 10, says: (value) => `at most ${value} tokens` },
    changed,
  );
  const seed = slider('Seed', { value: DEFAULTS.seed, min: 1, max: 100, step: 1, says: String }, changed);
  const all = { temperature, topK, length, seed };
  return {
    element: el('div', { class: 'writing-settings' }, ...Object.values(all).map(({ element }) => element)),
    get params() {
      const drawn = { temperature: temperature.value, topK: topK.value };
      const isDrawn = temperature.value > 0;
      return { maxNewTokens: length.value, seed: seed.value, doSample: isDrawn, ...(isDrawn && drawn) };
    },
    get changed() {
      return Object.fromEntries(
        Object.entries(all).map(([name, { value }]) => [
          name,
          value === DEFAULTS[name as keyof typeof DEFAULTS] ? undefined : String(value),
        ]),
      );
    },
    restore(settings) {
      for (const [name, one] of Object.entries(all))
        one.set(Number(settings[name] ?? DEFAULTS[name as keyof typeof DEFAULTS]));
    },
  };
}
