/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const OBJECT_TRACKER_SCHEMA: ConfigSchema = {
  trackThreshold: { type: 'number', minimum: 0, maximum: 0.9, default: 0.25 },
  matchThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.8 },
  lostFrames: { type: 'integer', minimum: 0, maximum: 10000, default: 30 },
};
