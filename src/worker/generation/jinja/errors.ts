/**
 * What a template failed with:
 *
 * - `syntax`: it is no template;
 * - `unsupported`: it uses what this engine does not have;
 * - `raised`: it called `raise_exception`;
 * - `runtime`: Python fails there, too;
 * - `limit`: it takes too long, or writes too much.
 */
type Kind = 'syntax' | 'unsupported' | 'raised' | 'runtime' | 'limit';

/** An error of a template. */
export class TemplateError extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
  ) {
    super(message);
  }
}

/** Returns the error for what Python refuses, too. */
export function failure(message: string): TemplateError {
  return new TemplateError('runtime', message);
}

/** Returns the error for what this engine does not have. */
export function unsupported(what: string): TemplateError {
  return new TemplateError('unsupported', `It uses ${what}, which TabServe's templates do not have.`);
}
