/** Which models answer a request: one of another kind is refused before it runs. */
import type { Medium } from '../../../shared/chat.js';
import type { ServedVersion } from '../../served-version.js';
import { IS_BUILT_IN } from '../built-in.js';
import { FieldError } from './request.js';

/** What a model makes from a text, or of a recording. */
type Made = 'text' | 'vector' | 'ranking' | 'transcript' | 'speech';

/** What is said of a model that makes something else. */
const MAKES_NONE: Readonly<Record<Made, string>> = {
  text: 'writes no text',
  vector: 'makes no vectors of texts',
  ranking: 'ranks no texts',
  speech: 'speaks no text',
  transcript: 'does not write what is said in a recording',
};

/** The built-in handlers that make what is requested. */
const BUILT_IN: Readonly<Record<string, Made>> = {
  conversation_transcriber: 'transcript',
  audio_text_to_text: 'text',
  image_text_to_text: 'text',
  speech_recognizer: 'transcript',
  speech_to_text: 'transcript',
  text_feature_extractor: 'vector',
  text_generator: 'text',
  text_reranker: 'ranking',
  text_to_speech: 'speech',
  text_to_text: 'text',
};

/** @throws `invalid-input` if the model makes something else for certain */
export function checkMakes(made: Made, served: ServedVersion): void {
  const { handler, takes } = served.options.description;
  const isOther = made === 'transcript' ? takes !== 'audio' : takes === 'image' || takes === 'audio';
  const known = IS_BUILT_IN.test(handler) ? BUILT_IN[handler] : made;
  if (isOther || known !== made) throw makesOther(made, served);
}

/** @throws `invalid-input` if the model takes no conversation for certain */
export function checkTakesMessages({ options: { name, description } }: ServedVersion): void {
  if (description.handler === 'text_to_text')
    throw new FieldError('model', `Model "${name}" takes no messages: use /v1/completions.`);
}

/** Returns what a model takes in a conversation besides texts. */
export function mediumOf({ options: { description } }: ServedVersion): Medium | undefined {
  return description.takes === 'image-or-text' ? 'image' : description.takes === 'audio-or-text' ? 'audio' : undefined;
}

/** Returns the error for a model that makes something else. */
export function makesOther(made: Made, { options: { name, description } }: ServedVersion): FieldError {
  return new FieldError('model', `Model "${name}" ${MAKES_NONE[made]}: its handler is ${description.handler}.`);
}
