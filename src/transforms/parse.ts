/** Reads transforms from a config, and checks their order. */
import { TabServeError } from '../contract/errors.js';
import { readStep, STEP_NAMES, invalidValue } from './read.js';
import type { FillColor, TransformStep, StepName, Transforms } from './steps.js';

/**
 * Transforms from an archive's YAML, or from `compose`: a list whose items are a step's name (`- toTensor`), its name and main value
 * (`- resize: 256`), or its name and options (`- resize: { size: [48, 192], interpolation: bicubic }`).
 * Defaults are filled in; parsing the result again gives the same.
 * @param key where the list stands, for messages
 * @throws `model-config`, naming the key and what is allowed there, if a step is unknown, has a wrong value, or stands where it cannot
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

/** The one name of a step. */
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
  throw new TabServeError('model-config', `${key}: there is no step '${name}'; there are ${STEP_NAMES.join(', ')}.`);
}

/** Pixel steps, `toTensor` once, then `normalize` and at most one `layout`; and values that fit the channels which are there by then. */
function checkOrder(transforms: Transforms, key: string): void {
  let isTensor = false;
  let hasLayout = false;
  let channels: 1 | 3 = 3;
  transforms.forEach((step, index) => {
    const name = stepName(step);
    const at = `${key}[${index}].${name}`;
    const fail = (message: string): TabServeError => new TabServeError('model-config', `${at} ${message}.`);
    if (name === 'normalize' || name === 'layout') {
      if (!isTensor) throw fail('must come after toTensor');
    } else if (isTensor) {
      throw fail(name === 'toTensor' ? 'stands twice; once is allowed' : 'must come before toTensor');
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
      if (hasLayout) throw fail('stands twice; once is allowed');
      hasLayout = true;
    }
  });
  if (!isTensor) throw new TabServeError('model-config', `${key} has no toTensor: the model needs a tensor.`);
}
