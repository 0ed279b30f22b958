import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_LABELS } from '../../contract/limits.js';
import { isRecord } from '../../shared/schema.js';

/** Class index → label. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Reads labels in TorchServe's three forms: `{"0": "cat"}`, `{"0": ["n02123045", "cat"]}` (the last string is the
 * label) and `{"object_type_names": ["cat", …]}`. A list of labels works too.
 * @throws `model-format` with the name of the wrong entry, or if there are more than `MAX_LABELS`
 */
export function parseLabels(value: unknown, name: string): Labels {
  const names = namesIn(value);
  if (typeof names !== 'object' || names === null)
    throw new TabServeError('model-format', `${name} must be a list of labels, or map class indices to labels.`);
  // A list of millions is refused before its indices become strings.
  const indices = Array.isArray(names) && names.length > MAX_LABELS ? names : Object.keys(names);
  if (indices.length > MAX_LABELS)
    throw new TabServeError(
      'model-format',
      `${name} has ${indices.length} labels; there may be ${MAX_LABELS}. Remove those of classes that the model has not.`,
    );
  const labels: Record<string, string> = {};
  for (const index of indices as readonly string[]) {
    if (!/^\d+$/.test(index))
      throw new TabServeError(
        'model-format',
        `${name}: "${shorten(index)}" is not a class index; use 0, 1, 2 and so on.`,
      );
    const entry = (names as Readonly<Record<string, unknown>>)[index];
    const label = Array.isArray(entry) ? (entry.at(-1) as unknown) : entry;
    if (typeof label !== 'string')
      throw new TabServeError('model-format', `${name}: the label of class ${index} must be a string.`);
    labels[index] = label;
  }
  return labels;
}

/** Returns the mapping or list of labels in one of TorchServe's forms. */
function namesIn(value: unknown): unknown {
  return isRecord(value) && 'object_type_names' in value ? value['object_type_names'] : value;
}

/** Returns what labels that `parseLabels` has read say of each class: a text, or several. */
export function entriesOf(value: unknown): readonly (readonly [index: string, entry: unknown])[] {
  return Object.entries(namesIn(value) as object) as [string, unknown][];
}

/** Returns the label of a class, or its index as a string if the class has no label. */
export function labelOf(labels: Labels | undefined, index: number): string {
  return labels?.[index] ?? String(index);
}

/** Returns the number of labels if they cover 0, 1, 2 and so on without gaps; otherwise undefined. */
export function labelCount(labels: Labels | undefined): number | undefined {
  const indices = Object.keys(labels ?? {});
  return indices.length > 0 && indices.every((index) => Number(index) < indices.length) ? indices.length : undefined;
}

/** Returns one more than the highest class that has a label; undefined without labels. */
export function classCount(labels: Labels | undefined): number | undefined {
  const indices = Object.keys(labels ?? {});
  return indices.length > 0 ? indices.reduce((most, index) => Math.max(most, Number(index)), 0) + 1 : undefined;
}

/**
 * Checks that the labels fit a model's classes: either there is one label for each class, or the mapping has gaps and
 * only labels classes that the model has.
 * @param why a note for the message on the number of classes
 * @throws `model-config` if the labels do not fit
 */
export function checkLabels(labels: Labels | undefined, classes: number, why = ''): void {
  const actual = `but the model has ${classes} classes${why}. Correct the labels (in handler.labels, index_to_name.json or the model's file), or choose another output in handler.outputName.`;
  const count = labelCount(labels);
  if (count !== undefined && count !== classes)
    throw new TabServeError('model-config', `handler.labels: there are ${count} labels, ${actual}`);
  const beyond = Object.keys(labels ?? {}).find((index) => Number(index) >= classes);
  if (beyond !== undefined)
    throw new TabServeError('model-config', `handler.labels: there is a label for class ${beyond}, ${actual}`);
}
