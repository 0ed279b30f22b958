import type { Policy } from '../../src/service-worker.js';

/** The names under which the client can ask for the same model, one for each policy. */
export const MODELS = {
  digits: 'device-first',
  'digits-server-first': 'server-first',
  'digits-device-only': 'device-only',
} as const satisfies Readonly<Record<string, Policy>>;

export type ModelName = keyof typeof MODELS;

/** The header in which a hosting tab of the gallery says which one it is. */
export const TAB = 'Gallery-Tab';
