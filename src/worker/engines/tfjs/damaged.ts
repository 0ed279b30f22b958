import { TabServeError } from '../../../contract/errors.js';

/** Returns the error for a model's file that TensorFlow.js would fail on. @param what is wrong with it */
export function damaged(path: string, what: string): TabServeError {
  return new TabServeError(
    'model-format',
    `${path} is no model that TensorFlow.js can read: ${what}. Convert the model again.`,
  );
}
