import type { Schema } from '../../../shared/schema.js';

/** Returns the schema of the key `outputs`: which of the model's outputs has what. @param defaults their usual names */
export function outputsSchema(defaults: Readonly<Record<string, string>>): Schema {
  return {
    type: 'object',
    readOnly: true,
    properties: Object.fromEntries(
      Object.entries(defaults).map(([role, name]) => [
        role,
        { type: 'string', description: `The name of the output with the ${role}. Default: ${name}.` },
      ]),
    ),
    description: 'The names of the outputs of the node `landmarks`.',
  };
}
