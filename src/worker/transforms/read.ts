/**
 * Reads the options of a step from any value of a config. Short forms, defaults and errors are defined here and nowhere
 * else.
 */
import { describeValue, shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_TRANSFORM_SIDE } from '../../contract/limits.js';
import {
  COLOR_ORDERS,
  INTERPOLATIONS,
  LAYOUTS,
  POSITIONS,
  RESIZED_SIDES,
  ROUNDINGS,
  TO_MULTIPLES,
  type FillColor,
  type HeightWidth,
  type ResizedSide,
  type Rounding,
  type TransformStep,
  type StepName,
  type StepOptions,
} from './steps.js';

type Reader<T> = (value: unknown, key: string) => T;

const READERS: { readonly [Name in StepName]: Reader<StepOptions[Name]> } = {
  resize(value, key) {
    const names = [
      'size',
      'interpolation',
      'side',
      'maxSize',
      'multipleOf',
      'toMultiple',
      'keepAspectRatio',
      'thumbnail',
      'rounding',
    ] as const;
    const given = record(value, key, names);
    const { size, interpolation, maxSize, multipleOf, toMultiple, keepAspectRatio, thumbnail, rounding } = given;
    const options = {
      size: isSide(size)
        ? size
        : size === 'image'
          ? ('image' as const)
          : pair(size, `${key}.size`, 'a number, image, or '),
      interpolation: oneOf(INTERPOLATIONS, interpolation ?? 'bilinear', `${key}.interpolation`),
      ...readSide(given, key),
      ...readMultipleOf(multipleOf, toMultiple, size, key),
      ...readOfSides('keepAspectRatio', keepAspectRatio, size, key),
      ...readOfSides('thumbnail', thumbnail, size, key),
      ...readRounding(rounding, key),
    };
    if (maxSize === undefined) return options;
    const allowsEqual = options.rounding === 'transformers';
    if (!isSide(maxSize) || typeof options.size !== 'number' || maxSize < options.size + (allowsEqual ? 0 : 1)) {
      const least = allowsEqual ? 'of at least size' : 'greater than size';
      throw invalidValue(
        `${key}.maxSize`,
        maxSize,
        `an integer ${least}, which must be one number, and at most ${MAX_TRANSFORM_SIDE}`,
      );
    }
    return { ...options, maxSize };
  },
  centerCrop(value, key) {
    const { size, rounding } = record(value, key, ['size', 'rounding']);
    return {
      size: isSide(size) ? [size, size] : pair(size, `${key}.size`, 'a number or '),
      ...readRounding(rounding, key),
    };
  },
  pad(value, key) {
    const options = record(value, key, ['padding', 'fill']);
    const sides = typeof options.padding === 'number' ? [options.padding] : options.padding;
    if (
      !Array.isArray(sides) ||
      ![1, 2, 4].includes(sides.length) ||
      !sides.every((side) => side === 0 || isSide(side))
    )
      throw invalidValue(
        `${key}.padding`,
        options.padding,
        `an integer in 0..${MAX_TRANSFORM_SIDE}, or 2 or 4 of them`,
      );
    const [left, top = left, right = left, bottom = top] = sides as [number, number?, number?, number?];
    return { padding: [left, top, right, bottom], fill: fill(options.fill ?? 0, `${key}.fill`) };
  },
  mirror(value, key) {
    const { multipleOf, margin } = record(value, key, ['multipleOf', 'margin']);
    if ((multipleOf === undefined) === (margin === undefined))
      throw invalidValue(key, value, 'an object with either multipleOf or margin');
    if (multipleOf !== undefined) return { multipleOf: side(multipleOf, `${key}.multipleOf`) };
    if (!isNumber(margin) || margin <= 0) throw invalidValue(`${key}.margin`, margin, 'a number above 0');
    return { margin };
  },
  letterbox(value, key) {
    const options = record(value, key, ['size', 'fill', 'interpolation', 'position']);
    return {
      size: pair(options.size, `${key}.size`),
      fill: fill(options.fill ?? 114, `${key}.fill`),
      interpolation: oneOf(INTERPOLATIONS, options.interpolation ?? 'bilinear', `${key}.interpolation`),
      position: oneOf(POSITIONS, options.position ?? 'center', `${key}.position`),
    };
  },
  grayscale(value, key) {
    const { channels = 1 } = record(value, key, ['channels']);
    return { channels: oneOf([1, 3] as const, channels, `${key}.channels`) };
  },
  colorOrder: (value, key) => oneOf(COLOR_ORDERS, value, key),
  toTensor(value, key) {
    const { scale = 1 / 255, rounding } = record(value, key, ['scale', 'rounding']);
    if (!isNumber(scale) || scale === 0) throw invalidValue(`${key}.scale`, scale, 'a finite number other than 0');
    return { scale, ...readRounding(rounding, key) };
  },
  normalize(value, key) {
    const { mean, std } = record(value, key, ['mean', 'std']);
    const options = { mean: perChannel(mean, `${key}.mean`), std: perChannel(std, `${key}.std`) };
    if (options.std.some((number) => Math.fround(number) === 0))
      throw invalidValue(`${key}.std`, std, 'numbers other than 0 in float32');
    return options;
  },
  resizeTensor(value, key) {
    const names = ['size', 'multipleOf', 'toMultiple', 'keepAspectRatio', 'antialias', 'alignCorners'] as const;
    const { size, multipleOf, toMultiple, keepAspectRatio, antialias, alignCorners } = record(value, key, names);
    for (const [name, flag] of Object.entries({ antialias, alignCorners }))
      if (flag !== undefined && typeof flag !== 'boolean') throw invalidValue(`${key}.${name}`, flag, 'true or false');
    if (antialias === true && alignCorners === true)
      throw invalidValue(`${key}.alignCorners`, alignCorners, 'false with antialias');
    return {
      size: pair(size, `${key}.size`),
      ...readMultipleOf(multipleOf, toMultiple, size, key),
      ...readOfSides('keepAspectRatio', keepAspectRatio, size, key),
      ...(antialias === true && { antialias }),
      ...(alignCorners === false && { alignCorners }),
    };
  },
  padTensor(value, key) {
    const { size, multipleOf, position } = record(value, key, ['size', 'multipleOf', 'position']);
    if ((size === undefined) === (multipleOf === undefined))
      throw invalidValue(key, value, 'an object with either size or multipleOf');
    return {
      ...(size === undefined
        ? { multipleOf: side(multipleOf, `${key}.multipleOf`) }
        : { size: pair(size, `${key}.size`) }),
      position: oneOf(POSITIONS, position ?? 'top-left', `${key}.position`),
    };
  },
  letterboxTensor(value, key) {
    const { side: given, fill: color = 0.5 } = record(value, key, ['side', 'fill']);
    if (!isNumber(color)) throw invalidValue(`${key}.fill`, color, 'a finite number');
    return { side: side(given, `${key}.side`), fill: color };
  },
  layout: (value, key) => oneOf(LAYOUTS, value, key),
};

/** The names of all steps. */
export const STEP_NAMES = Object.keys(READERS) as readonly StepName[];

/**
 * Returns a step with its defaults filled in. Reading the result again returns the same.
 * @throws `model-config`, naming `key`
 */
export function readStep(name: StepName, value: unknown, key: string): TransformStep {
  return { [name]: READERS[name](value, key) } as TransformStep;
}

/** Returns a `model-config` error that names the key, the allowed values and the actual one. */
export function invalidValue(key: string, value: unknown, allowed: string): TabServeError {
  return new TabServeError('model-config', `${key} must be ${allowed}, not ${describeValue(value)}.`);
}

/** Returns the options as an object. A value that is no object is the first option's; no value is an empty object. */
function record<K extends string>(
  value: unknown,
  key: string,
  names: readonly [K, ...K[]],
): { readonly [Name in K]?: unknown } {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return { [names[0]]: value } as { [Name in K]?: unknown };
  for (const name of Object.keys(value))
    if (!names.includes(name as K))
      throw new TabServeError(
        'model-config',
        `${key}.${shorten(name)} is unknown. The options of ${key} are ${names.join(', ')}.`,
      );
  // An option that is undefined, or empty in YAML, counts as missing.
  return Object.fromEntries(Object.entries(value).filter(([, option]) => option !== undefined && option !== null)) as {
    [Name in K]?: unknown;
  };
}

function readRounding(value: unknown, key: string): { readonly rounding?: Rounding } {
  return value === undefined ? {} : { rounding: oneOf(ROUNDINGS, value, `${key}.rounding`) };
}

function readSide(
  { side, size, maxSize, rounding }: { readonly [Name in 'side' | 'size' | 'maxSize' | 'rounding']?: unknown },
  key: string,
): { readonly side?: ResizedSide } {
  if (side === undefined) return {};
  const read = oneOf(RESIZED_SIDES, side, `${key}.side`);
  if (!isSide(size) || (read === 'longer' && (maxSize !== undefined || rounding !== undefined)))
    throw invalidValue(
      `${key}.side`,
      side,
      'shorter or longer, with one number as size; longer has no maxSize or rounding',
    );
  return { side: read };
}

function readMultipleOf(
  value: unknown,
  direction: unknown,
  size: unknown,
  key: string,
): Pick<StepOptions['resize'], 'multipleOf' | 'toMultiple'> {
  if (value === undefined && direction === undefined) return {};
  if (!isSide(value) || (isSide(size) && value > size))
    throw invalidValue(`${key}.multipleOf`, value, 'a positive integer of at most size');
  if (direction === undefined) return { multipleOf: value };
  return { multipleOf: value, toMultiple: oneOf(TO_MULTIPLES, direction, `${key}.toMultiple`) };
}

/** Reads an option that needs a size of [height, width]. */
function readOfSides<T extends 'keepAspectRatio' | 'thumbnail'>(
  name: T,
  value: unknown,
  size: unknown,
  key: string,
): { readonly [name in T]?: boolean } {
  if (value === undefined) return {};
  if (typeof value !== 'boolean' || !Array.isArray(size))
    throw invalidValue(`${key}.${name}`, value, 'true or false, with a size of [height, width]');
  return { [name]: value } as { readonly [name in T]?: boolean };
}

function side(value: unknown, key: string): number {
  if (isSide(value)) return value;
  throw invalidValue(key, value, `an integer in 1..${MAX_TRANSFORM_SIDE}`);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isSide(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= MAX_TRANSFORM_SIDE;
}

function isLevel(value: unknown): value is number {
  return Number.isInteger(value) && 0 <= (value as number) && (value as number) <= 255;
}

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem);
}

function pair(value: unknown, key: string, others = ''): HeightWidth {
  if (isList(value, isSide) && value.length === 2) return value as unknown as HeightWidth;
  throw invalidValue(key, value, `${others}[height, width], integers in 1..${MAX_TRANSFORM_SIDE}`);
}

function fill(value: unknown, key: string): FillColor {
  if (isLevel(value)) return value;
  if (isList(value, isLevel) && value.length === 3) return value as unknown as FillColor;
  throw invalidValue(key, value, 'an integer in 0..255, or [red, green, blue]');
}

function perChannel(value: unknown, key: string): readonly number[] {
  const numbers = isNumber(value) ? [value] : value;
  if (isList(numbers, isNumber) && (numbers.length === 1 || numbers.length === 3)) return numbers;
  throw invalidValue(key, value, 'one finite number, or 3');
}

function oneOf<const T>(allowed: readonly T[], value: unknown, key: string): T {
  if (allowed.includes(value as T)) return value as T;
  throw invalidValue(key, value, `one of ${allowed.join(', ')}`);
}
