import type { DType, OutputInfo } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import { mismatchError, describeOutputs, type ModelFacts } from './decoder.js';

/** The role of an output in a format that reads several outputs. */
export interface Role {
  readonly name: string;
  /** The names that exporters usually give the output, without TensorFlow's suffix `:0`. */
  readonly usualNames: readonly string[];
  /** The expected dims as text, for messages. */
  readonly dims: string;
  /** Returns whether an output's dims fit the role. */
  readonly fits: (output: Pick<OutputInfo, 'dims'>) => boolean;
  /** Returns whether a dtype fits the role. It applies only if the output is found by its dims, not by its name. */
  readonly acceptsDtype?: (dtype: DType) => boolean;
}

/** Output names by role. Several outputs of one role are concatenated along their boxes. */
export type OutputNames = Readonly<Record<string, string | readonly string[]>>;

/**
 * Finds the outputs of each role: the outputs that `given` names, or the output with a usual name, or the only
 * remaining output that fits.
 * @throws `model-config` if no output or more than one output fits a role, or if the dims of a named output do not fit
 */
export function findOutputs(
  format: string,
  roles: readonly Role[],
  given: OutputNames,
  { outputs }: ModelFacts,
): OutputInfo[][] {
  const unknown = Object.keys(given).find((key) => !roles.some(({ name }) => name === key));
  if (unknown)
    throw new TabServeError(
      'model-config',
      `handler.decoder.${format}.outputs.${unknown} is unknown. The keys are ${roles.map(({ name }) => name).join(', ')}.`,
    );
  const found = roles.map(({ name, usualNames }) => {
    const wanted = given[name];
    if (wanted !== undefined)
      return [wanted]
        .flat()
        .map((output) => outputs.find((info) => info.name === output) ?? missing(format, name, output, outputs));
    return outputs.filter(({ name }) => usualNames.includes(name.replace(/:\d+$/, ''))).slice(0, 1);
  });
  roles.forEach(({ name, dims, fits }, index) => {
    const wrong = found[index]!.filter((output) => !fits(output));
    if (wrong.length > 0)
      throw new TabServeError(
        'model-config',
        `handler.decoder.${format}.outputs.${name} must be ${dims}; the model gives ${describeOutputs(wrong)}.`,
      );
  });
  // An output has at most one role.
  const fitting = ({ fits, acceptsDtype = () => true }: Role): OutputInfo[] =>
    outputs.filter(
      (info) =>
        fits(info) &&
        info.dtype !== 'string' &&
        (!info.dtype || acceptsDtype(info.dtype)) &&
        !found.flat().includes(info),
    );
  const unassigned = (): number[] => roles.flatMap((_, index) => (found[index]!.length === 0 ? [index] : []));
  for (let remaining = unassigned(), next; remaining.length > 0; remaining = unassigned()) {
    next = remaining.find((index) => fitting(roles[index]!).length === 1);
    if (next === undefined) throw ambiguous(format, roles[remaining[0]!]!, fitting(roles[remaining[0]!]!), outputs);
    found[next] = fitting(roles[next]!);
  }
  return found;
}

/** Returns the error for a role that no output, or more than one output, fits. */
function ambiguous(
  format: string,
  { name, dims }: Role,
  fitting: readonly OutputInfo[],
  outputs: readonly OutputInfo[],
): TabServeError {
  if (fitting.length === 0) return mismatchError(format, `${name} ${dims}`, outputs);
  const names = fitting.map((info) => `"${info.name}"`).join(', ');
  return new TabServeError(
    'model-config',
    `handler.decoder.${format}.outputs.${name} must say which output has the ${name}. These outputs fit: ${names}.`,
  );
}

function missing(format: string, role: string, output: string, outputs: readonly OutputInfo[]): never {
  throw new TabServeError(
    'model-config',
    `handler.decoder.${format}.outputs.${role}: the model has no "${output}"; it has ${outputs.map(({ name }) => `"${name}"`).join(', ')}.`,
  );
}
