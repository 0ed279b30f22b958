import type { HearingProgress } from '../contract/hearing-progress.js';
import { isPlainObject } from './is-plain-object.js';

/** Returns whether a part of an answer says how far the work is. */
export function isHearingProgress(part: unknown): part is HearingProgress {
  return isPlainObject(part) && typeof part['done'] === 'number' && typeof part['total'] === 'number';
}
