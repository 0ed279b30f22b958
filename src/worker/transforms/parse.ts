/** Reads transforms from a config, and checks the order of their steps. */
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { readStep, STEP_NAMES, invalidValue } from './read.js';
import type { FillColor, TransformStep, StepName, Transforms } from './steps.js';

/**
 * Parses transforms from an archive's YAML, or from `compose`: a list whose items are a step's name (`- toTensor`), its
 * name and main value (`- resize: 256`), or its name and options
 * (`- resize: { size: [48, 192], interpolation: bicubic }`). Fills in defaults; parsing the result again returns the
 * same.
 * @param key the list's key in the config, for error messages
 * @throws `model-config`, naming the key and what is allowed there, if a step is unknown, has a wrong value, or is in
 *   the wrong place
 */
export function parseTransforms(value: unknown, key = 'handler.imageProcessing'): Transforms {
  if (!Array.isArray(value)) throw invalidValue(key, value, 'a list of steps');
  const transforms = value.map((item: unknown, index) => {
    const [name, options] = nameAndOptions(item, `${key}[${index}]`);
    return readStep(name, options, `${key}[${index}].${name}`);
  });
  checkOrder(transforms, key);
  return transforms;
}

/** Returns the name of a step, which is its only key. */
export function stepName(step: TransformStep): StepName {
  return Object.keys(step)[0] as StepName;
}

function nameAndOptions(item: unknown, key: string): readonly [StepName, unknown] {
  const entries: readonly (readonly [string, unknown])[] =
    typeof item === 'string'
      ? [[item, undefined]]
      : typeof item === 'object' && item !== null
        ? Object.entries(item)
        : [];
  const [entry] = entries;
  if (!entry || entries.length > 1)
    throw invalidValue(key, item, 'the name of a step, or an object with one key, its name');
  const [name, options] = entry;
  if (STEP_NAMES.includes(name as StepName)) return [name as StepName, options];
  throw new TabServeError(
    'model-config',
    `${key}: there is no step '${shorten(name)}'. The steps are ${STEP_NAMES.join(', ')}.`,
  );
}

/** The steps on the tensor. */
const AFTER_TENSOR: ReadonlySet<StepName> = new Set([
  'normalize',
  'resizeTensor',
  'padTensor',
  'letterboxTensor',
  'layout',
]);

/**
 * Checks the order: pixel steps, one `toTensor`, then steps on the tensor, with at most one `layout`. Checks that values fit the
 * number of channels at each step.
 */
function checkOrder(transforms: Transforms, key: string): void {
  let isTensor = false;
  let hasLayout = false;
  let channels: 1 | 3 = 3;
  transforms.forEach((step, index) => {
    const name = stepName(step);
    const at = `${key}[${index}].${name}`;
    const fail = (message: string): TabServeError => new TabServeError('model-config', `${at} ${message}.`);
    if (AFTER_TENSOR.has(name)) {
      if (!isTensor) throw fail('must come after toTensor');
    } else if (isTensor) {
      throw fail(name === 'toTensor' ? 'occurs twice; it is allowed once' : 'must come before toTensor');
    }
    const fill: FillColor | undefined =
      'pad' in step ? step.pad.fill : 'letterbox' in step ? step.letterbox.fill : undefined;
    if (channels === 1 && typeof fill === 'object') throw fail('fills one channel: its fill must be one number');
    if ('grayscale' in step) channels = step.grayscale.channels;
    if ('toTensor' in step) isTensor = true;
    if ('normalize' in step)
      for (const values of [step.normalize.mean, step.normalize.std])
        if (values.length > channels) throw fail(`has ${values.length} values for an image of one channel`);
    if ('layout' in step) {
      if (hasLayout) throw fail('occurs twice; it is allowed once');
      hasLayout = true;
    }
  });
  if (!isTensor) throw new TabServeError('model-config', `${key} has no toTensor: the model needs a tensor.`);
}
