import type { EngineOptions } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { TensorInfo } from '../../../contract/tensors.js';
import { nearestName } from '../../../shared/nearest-name.js';
import { formatTensor } from '../session.js';

/** Returns inputs or outputs with their symbols replaced by the sizes of `freeDimensions`. */
export function fixDimensions<Info extends TensorInfo>(
  infos: readonly Info[],
  { freeDimensions = {} }: EngineOptions,
): readonly Info[] {
  return infos.map((info) => ({
    ...info,
    dims: info.dims.map((size) => (typeof size === 'string' ? (freeDimensions[size] ?? size) : size)),
  }));
}

/**
 * Checks `freeDimensions` against the free dimensions of a model's inputs. ONNX Runtime ignores a name that no input
 * has, and then computes with free dimensions, which on WebNN takes a hundred times as long. An unknown name is not an
 * error if every dimension is fixed, because it may belong to another model of the archive.
 * @param path of the model
 * @throws `model-config` for an unknown name while a dimension is free
 */
export function checkNames(inputs: readonly TensorInfo[], { freeDimensions = {} }: EngineOptions, path: string): void {
  const symbols = symbolsOf(inputs);
  const free = symbols.filter((symbol) => !Object.hasOwn(freeDimensions, symbol));
  const unknown = Object.keys(freeDimensions).find((name) => !symbols.includes(name));
  if (unknown === undefined || free.length === 0) return;
  const meant = nearestName(unknown, free);
  throw new TabServeError(
    'model-config',
    `engine.freeDimensions: no input of ${path} has a dimension "${unknown}".${meant === undefined ? '' : ` Did you mean "${meant}"?`} Its free dimensions are ${listed(symbols)}.`,
  );
}

/**
 * Checks that every dimension of a model's inputs is fixed: for WebNN in the file or by `freeDimensions`, for ONNX
 * Runtime's WebGL, which ignores `freeDimensions`, in the file.
 * @throws `backend-failed` naming those that are not, and what to write
 */
export function checkFixed(
  provider: 'webnn' | 'webgl',
  inputs: readonly TensorInfo[],
  given: EngineOptions,
  path: string,
): void {
  const options = provider === 'webnn' ? given : {};
  const free = fixDimensions(inputs, options).filter(({ dims }) => dims.some((size) => typeof size !== 'number'));
  if (free.length === 0) return;
  throw new TabServeError(
    'backend-failed',
    `${{ webnn: 'WebNN', webgl: "ONNX Runtime's WebGL" }[provider]} needs fixed dimensions, and ${path} has free ones: ${free.map((input) => `"${input.name}" is ${formatTensor(input)}`).join(', ')}. ${provider === 'webnn' ? howToFix(free, options) : 'It ignores engine.freeDimensions: export the model with fixed dimensions.'}`,
  );
}

function howToFix(free: readonly TensorInfo[], { freeDimensions }: EngineOptions): string {
  if (free.some(({ dims }) => dims.includes(null)))
    return 'A dimension without a name cannot be fixed by the config: export the model with fixed dimensions.';
  const all = { ...freeDimensions, ...Object.fromEntries(symbolsOf(free).map((symbol) => [symbol, 1])) };
  const example = Object.entries(all).map(([symbol, size]) => `${JSON.stringify(symbol)}: ${size}`);
  return `Fix them in the config, each at the size that the inputs have: engine: { freeDimensions: { ${example.join(', ')} } }.`;
}

function symbolsOf(inputs: readonly TensorInfo[]): readonly string[] {
  return [...new Set(inputs.flatMap(({ dims }) => dims.filter((size) => typeof size === 'string')))];
}

function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
