/** What follows from a repository's `config.json`. */
import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { MAX_LABELS } from '../contract/limits.js';
import { isRecord } from './schema.js';

/** A JSON object of a repository: a config whose fields are not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns the error for a field from which nothing can be derived. `advice` names the TabServe key to set. */
export function underivable(
  file: string,
  field: string,
  value: unknown,
  expected: string,
  advice: string,
): TabServeError {
  const given = value === undefined ? 'is missing' : `is ${describeValue(value)}`;
  return new TabServeError('model-config', `${file}: ${field} ${given}; expected ${expected}. ${advice}`.trimEnd());
}

/** Returns the first of `architectures`; undefined if there is none. */
export function architectureOf({ architectures }: Json): string | undefined {
  const first: unknown = Array.isArray(architectures) ? architectures[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

/** The number of labels that transformers assumes for a config without `id2label` and `num_labels`. */
const UNNAMED_LABELS = 2;

/**
 * Returns the labels by class index; timm lists them as `label_names`. Where they are missing, transformers names them
 * LABEL_0, LABEL_1 and so on.
 */
export function labelsOf({
  id2label,
  label_names: names,
  num_classes: classes,
  num_labels: count = classes,
}: Json): Json {
  if (isRecord(id2label)) return id2label;
  if (Array.isArray(names)) return { ...names };
  const length = Number.isSafeInteger(count) ? Math.min(Math.max(count as number, 0), MAX_LABELS) : UNNAMED_LABELS;
  return Object.fromEntries(Array.from({ length }, (_, index) => [index, `LABEL_${index}`]));
}

/** Returns the number of labels. */
export function labelCountOf(config: Json): number {
  return Object.keys(labelsOf(config)).length;
}

/** Returns whether each class has a probability of its own: several may be right, or there is only one. */
export function hasSigmoid(config: Json): boolean {
  return config['problem_type'] === 'multi_label_classification' || labelCountOf(config) === 1;
}
