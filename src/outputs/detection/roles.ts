import type { TensorInfo } from '../../contract.js';
import { TabServeError } from '../../errors.js';
import type { Schema } from '../../schema.js';
import { misfit, type ModelFacts } from './decoder.js';

/** One of several outputs that a format reads. */
export interface Role {
  readonly name: string;
  /** Names that exporters give it. */
  readonly usual: readonly string[];
  /** Its dims, in words. */
  readonly dims: string;
  readonly fits: (output: TensorInfo) => boolean;
}

/** Output names by role; several tensors of one role are joined along their boxes. */
export type OutputNames = Readonly<Record<string, string | readonly string[]>>;

/** The JSON Schema of `outputs`. */
export function rolesSchema(roles: readonly Role[]): Schema {
  const names: Schema = { type: ['string', 'array'], items: { type: 'string' }, minItems: 1 };
  return {
    type: 'object',
    properties: Object.fromEntries(
      roles.map(({ name, dims }) => [name, { ...names, description: `The output of dims ${dims}; several, in a list, are joined along their boxes.` }]),
    ),
    description: 'Names of the outputs, where they cannot be told by their names or dims.',
  };
}

/**
 * The outputs of each role: as named by `given`, else the one of a usual name, else the only one that fits.
 * @throws `model-config` where there is none, or more than one
 */
export function findOutputs(format: string, roles: readonly Role[], given: OutputNames, { outputs }: ModelFacts): TensorInfo[][] {
  const unknown = Object.keys(given).find((key) => !roles.some(({ name }) => name === key));
  if (unknown) throw new TabServeError('model-config', `handler.decoder.${format}.outputs.${unknown} is unknown; there are ${roles.map(({ name }) => name).join(', ')}.`);
  return roles.map(({ name, usual, dims, fits }) => {
    const wanted = given[name];
    if (wanted !== undefined) return [wanted].flat().map((output) => outputs.find((info) => info.name === output) ?? missing(format, name, output, outputs));
    const fitting = outputs.filter(fits);
    const found = fitting.find((info) => usual.includes(info.name)) ?? (fitting.length === 1 ? fitting[0] : undefined);
    if (found) return [found];
    if (fitting.length === 0) throw misfit(format, `${name} ${dims}`, outputs);
    throw new TabServeError(
      'model-config',
      `handler.decoder.${format}.outputs.${name} must say which output has the ${name}: ${fitting.map((info) => `"${info.name}"`).join(', ')} may.`,
    );
  });
}

function missing(format: string, role: string, output: string, outputs: readonly TensorInfo[]): never {
  throw new TabServeError('model-config', `handler.decoder.${format}.outputs.${role}: the model has no "${output}"; it has ${outputs.map(({ name }) => `"${name}"`).join(', ')}.`);
}
