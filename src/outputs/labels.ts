import { TabServeError } from '../contract/errors.js';
import { isRecord } from '../shared/schema.js';

/** Class index → label. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Reads labels in TorchServe's three forms: `{"0": "cat"}`, `{"0": ["n02123045", "cat"]}` (the last one counts) and `{"object_type_names": ["cat", …]}`;
 * a bare list is taken as well.
 * @throws `model-format` naming the entry
 */
export function parseLabels(value: unknown, name: string): Labels {
  const names = isRecord(value) && 'object_type_names' in value ? value['object_type_names'] : value;
  if (typeof names !== 'object' || names === null)
    throw new TabServeError('model-format', `${name} must map class indices to labels.`);
  return Object.fromEntries(
    Object.entries(names as Record<string, unknown>).map(([index, entry]) => {
      if (!/^\d+$/.test(index)) throw new TabServeError('model-format', `${name}: "${index}" is no class index.`);
      const label = Array.isArray(entry) ? (entry.at(-1) as unknown) : entry;
      if (typeof label !== 'string')
        throw new TabServeError('model-format', `${name}: the label of class ${index} is not text.`);
      return [index, label];
    }),
  );
}

/** A class's label; its index where it has none. */
export function labelOf(labels: Labels | undefined, index: number): string {
  return labels?.[index] ?? String(index);
}

/** How many classes the labels are for, where they start at 0 and leave none out; a mapping with gaps says nothing. */
export function labelCount(labels: Labels | undefined): number | undefined {
  const indices = Object.keys(labels ?? {});
  return indices.length > 0 && indices.every((index) => Number(index) < indices.length) ? indices.length : undefined;
}

/** One more than the highest class that has a label; undefined where none has. */
export function classCount(labels: Labels | undefined): number | undefined {
  const indices = Object.keys(labels ?? {});
  return indices.length > 0 ? Math.max(...indices.map(Number)) + 1 : undefined;
}

/**
 * Holds labels against a model's classes: as many, or a mapping with gaps of classes that there are.
 * @param why there are so many classes, for the message
 * @throws `model-config`
 */
export function checkLabels(labels: Labels | undefined, classes: number, why = ''): void {
  const told = `but the model tells ${classes} classes apart${why}.`;
  const count = labelCount(labels);
  if (count !== undefined && count !== classes)
    throw new TabServeError('model-config', `handler.labels: there are ${count} labels, ${told}`);
  const beyond = Object.keys(labels ?? {}).find((index) => Number(index) >= classes);
  if (beyond !== undefined)
    throw new TabServeError('model-config', `handler.labels: there is a label of class ${beyond}, ${told}`);
}
