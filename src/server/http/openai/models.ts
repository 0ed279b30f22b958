/** Which models answer a request: one of another kind is refused before it runs. */
import type { Medium, ResultKind } from '../../../contract/handler.js';
import type { ServedVersion } from '../../served-version.js';
import { IS_BUILT_IN } from '../built-in.js';
import { FieldError } from './request.js';

/** What is said of a model that makes something else. */
const MAKES_NONE: Readonly<Record<ResultKind, string>> = {
  text: 'writes no text',
  vector: 'makes no vectors of texts',
  ranking: 'ranks no texts',
  speech: 'speaks no text',
  transcript: 'transcribes no recordings',
};

/** @throws `invalid-input` if the model makes something else for certain */
export function checkMakes(made: ResultKind, served: ServedVersion): void {
  const { handler, takes, makes } = served.options.description;
  const isOther = made === 'transcript' ? takes !== 'audio' : takes === 'image' || takes === 'audio';
  if (isOther || (IS_BUILT_IN.test(handler) && makes !== made)) throw makesOther(made, served);
}

/** @throws `invalid-input` if the model takes no conversation for certain */
export function checkTakesMessages({ options: { name, description } }: ServedVersion): void {
  if (description.handler === 'text_to_text')
    throw new FieldError('model', `Model "${name}" takes no messages: use /v1/completions.`);
}

/** Returns what a model takes in a conversation besides texts. */
export function mediaOf({ options: { description } }: ServedVersion): readonly Medium[] {
  return description.media ?? [];
}

/** Returns the error for a model that makes something else. */
export function makesOther(made: ResultKind, { options: { name, description } }: ServedVersion): FieldError {
  return new FieldError('model', `Model "${name}" ${MAKES_NONE[made]}: its handler is ${description.handler}.`);
}
