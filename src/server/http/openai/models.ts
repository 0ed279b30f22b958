/** Which models answer a request: one of another kind is refused before it runs. */
import type { ServedVersion } from '../../served-version.js';
import { IS_BUILT_IN } from '../built-in.js';
import { FieldError } from './request.js';

/** What a model makes from a text. */
type Made = 'text' | 'vector';

/** The built-in handlers that make what is requested. */
const BUILT_IN: Readonly<Record<string, Made>> = {
  text_feature_extractor: 'vector',
  text_generator: 'text',
  text_to_text: 'text',
};

/** @throws `invalid-input` if the model makes something else for certain */
export function checkMakes(made: Made, served: ServedVersion): void {
  const { handler, takes } = served.options.description;
  const isOther = takes === 'image' || takes === 'audio';
  const known = IS_BUILT_IN.test(handler) ? BUILT_IN[handler] : made;
  if (isOther || known !== made) throw makesOther(made, served);
}

/** @throws `invalid-input` if the model takes no conversation for certain */
export function checkTakesMessages({ options: { name, description } }: ServedVersion): void {
  if (description.handler === 'text_to_text')
    throw new FieldError('model', `Model "${name}" takes no messages: use /v1/completions.`);
}

/** Returns the error for a model that makes something else. */
export function makesOther(made: Made, { options: { name, description } }: ServedVersion): FieldError {
  const what = made === 'text' ? 'writes no text' : 'makes no vectors of texts';
  return new FieldError('model', `Model "${name}" ${what}: its handler is ${description.handler}.`);
}
