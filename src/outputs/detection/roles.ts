import type { DType, OutputInfo } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import type { Schema } from '../../shared/schema.js';
import { misfit, shown, type ModelFacts } from './decoder.js';

/** One of several outputs that a format reads. */
export interface Role {
  readonly name: string;
  /** Names that exporters give it; TensorFlow's end in `:0`. */
  readonly usual: readonly string[];
  /** Its dims, in words. */
  readonly dims: string;
  readonly fits: (output: Pick<OutputInfo, 'dims'>) => boolean;
  /** The dtypes among which it is looked for where no name tells it; named, it may be of another. */
  readonly isOf?: (dtype: DType) => boolean;
}

/** Output names by role; several tensors of one role are joined along their boxes. */
export type OutputNames = Readonly<Record<string, string | readonly string[]>>;

/** The JSON Schema of `outputs`; `isJoined` where several tensors may be of one role. */
export function rolesSchema(roles: readonly Role[], isJoined = false): Schema {
  const names: Schema = isJoined
    ? { type: ['string', 'array'], items: { type: 'string' }, minItems: 1 }
    : { type: 'string' };
  const more = isJoined ? '; several, in a list, are joined along their boxes' : '';
  return {
    type: 'object',
    properties: Object.fromEntries(
      roles.map(({ name, dims }) => [name, { ...names, description: `The output of dims ${dims}${more}.` }]),
    ),
    description: 'Names of the outputs, where they cannot be told by their names or dims.',
  };
}

/**
 * The outputs of each role: as named by `given`, else the one of a usual name, else the only one left that fits.
 * @throws `model-config` where there is none, or more than one, or a named one has other dims than its role
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
      `handler.decoder.${format}.outputs.${unknown} is unknown; there are ${roles.map(({ name }) => name).join(', ')}.`,
    );
  const found = roles.map(({ name, usual }) => {
    const wanted = given[name];
    if (wanted !== undefined)
      return [wanted]
        .flat()
        .map((output) => outputs.find((info) => info.name === output) ?? missing(format, name, output, outputs));
    return outputs.filter(({ name }) => usual.includes(name.replace(/:\d+$/, ''))).slice(0, 1);
  });
  roles.forEach(({ name, dims, fits }, index) => {
    const wrong = found[index]!.filter((output) => !fits(output));
    if (wrong.length > 0)
      throw new TabServeError(
        'model-config',
        `handler.decoder.${format}.outputs.${name} must be ${dims}; the model gives ${shown(wrong)}.`,
      );
  });
  // What one role has taken is no other's.
  const fitting = ({ fits, isOf = () => true }: Role): OutputInfo[] =>
    outputs.filter(
      (info) =>
        fits(info) && info.dtype !== 'string' && (!info.dtype || isOf(info.dtype)) && !found.flat().includes(info),
    );
  const open = (): number[] => roles.flatMap((_, index) => (found[index]!.length === 0 ? [index] : []));
  for (let left = open(), certain; left.length > 0; left = open()) {
    certain = left.find((index) => fitting(roles[index]!).length === 1);
    if (certain === undefined) throw undecided(format, roles[left[0]!]!, fitting(roles[left[0]!]!), outputs);
    found[certain] = fitting(roles[certain]!);
  }
  return found;
}

function undecided(
  format: string,
  { name, dims }: Role,
  fitting: readonly OutputInfo[],
  outputs: readonly OutputInfo[],
): TabServeError {
  if (fitting.length === 0) return misfit(format, `${name} ${dims}`, outputs);
  const names = fitting.map((info) => `"${info.name}"`).join(', ');
  return new TabServeError(
    'model-config',
    `handler.decoder.${format}.outputs.${name} must say which output has the ${name}: ${names} may.`,
  );
}

function missing(format: string, role: string, output: string, outputs: readonly OutputInfo[]): never {
  throw new TabServeError(
    'model-config',
    `handler.decoder.${format}.outputs.${role}: the model has no "${output}"; it has ${outputs.map(({ name }) => `"${name}"`).join(', ')}.`,
  );
}
