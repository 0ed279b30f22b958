/** Outputs that hold features, logits, probabilities or boxes: floating-point numbers. */
import { TabServeError } from '../../contract/errors.js';
import type { OutputInfo } from '../../contract/tensors.js';

/**
 * Returns the output that a handler reads. If the first one has integers and the config names none, it is the model's
 * only output of floating-point numbers, or `usual` of several.
 * @throws `model-config` naming the outputs that would do, if the output has no floating-point numbers
 */
export function floatOutput(
  info: OutputInfo,
  outputs: readonly OutputInfo[],
  { outputName }: { readonly outputName?: unknown },
  usual?: string,
): OutputInfo {
  if (isFloat(info)) return info;
  const others = outputs.filter((one) => one.dtype !== undefined && isFloat(one));
  const found = others.length === 1 ? others[0] : others.find(({ name }) => name === usual);
  if (found && outputName === undefined) return found;
  const names = others.map(({ name }) => `"${name}"`).join(' or ');
  throw new TabServeError(
    'model-config',
    `handler.outputName: the handler needs floating-point numbers, but the output "${info.name}" is ${info.dtype}. ${names ? `Name ${names}.` : 'The model has no output of them: export it for the task of this handler.'}`,
  );
}

/**
 * Checks the outputs of a head that reads several by name.
 * @throws `model-config` naming the first one that cannot have floating-point numbers
 */
export function checkFloats(names: readonly string[], outputs: readonly OutputInfo[]): void {
  const wrong = outputs.find((one) => names.includes(one.name) && !isFloat(one));
  if (!wrong) return;
  throw new TabServeError(
    'model-config',
    `handler.outputName: the handler needs floating-point numbers, but the output "${wrong.name}" is ${wrong.dtype}. Name another output, or export the model without what makes its numbers ${wrong.dtype}.`,
  );
}

/** Returns whether an output may hold floating-point numbers: not every engine knows the dtype before the first run. */
function isFloat({ dtype }: OutputInfo): boolean {
  return dtype?.startsWith('float') !== false;
}
