/** Which of a model's files is taken, if it is there in several precisions. */
import type { ModelFile, Precision } from '../contract/precisions.js';

/**
 * Returns the files of these precisions, the best precision first; folder by folder where a precision is in several.
 */
export function sortFiles(files: readonly ModelFile[], precisions: readonly Precision[]): readonly ModelFile[] {
  const groupOf = grouping(files);
  return [...new Set(files.map(groupOf))].flatMap((group) =>
    precisions.flatMap((precision) => files.filter((one) => one.precision === precision && groupOf(one) === group)),
  );
}

/**
 * Returns a function that tells a file's folder; the same for all files if there is one of each precision, wherever it
 * is.
 */
export function grouping(files: readonly ModelFile[]): (file: ModelFile) => string {
  const isUnique = new Set(files.map(({ precision }) => precision)).size === files.length;
  return ({ path }) => (isUnique ? '' : path.slice(0, path.lastIndexOf('/') + 1));
}
