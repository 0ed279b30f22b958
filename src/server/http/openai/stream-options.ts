import { isPlainObject } from '../../../shared/is-plain-object.js';
import { checkKnown, withoutNull, wrongField, wrongValue, type Body } from './request.js';

/** How an answer is sent. */
export interface StreamOptions {
  readonly stream: boolean;
  /** Whether a stream ends with its usage. */
  readonly withUsage: boolean;
}

/** Reads `stream` and `stream_options`. @throws `invalid-input` naming what is wrong */
export function streamOptionsOf({ stream = false, stream_options: given }: Body): StreamOptions {
  if (typeof stream !== 'boolean') throw wrongValue('stream', 'true or false', stream);
  if (given === undefined) return { stream, withUsage: false };
  if (!isPlainObject(given)) throw wrongValue('stream_options', 'an object', given);
  if (!stream) throw wrongField('stream_options', 'only a request with stream: true has it.');
  checkKnown(given, ['include_usage', 'include_obfuscation'], 'stream_options.');
  const { include_usage: withUsage = false, include_obfuscation: obfuscates = false } = withoutNull(given);
  if (typeof withUsage !== 'boolean') throw wrongValue('stream_options.include_usage', 'true or false', withUsage);
  if (obfuscates !== false)
    throw wrongField('stream_options.include_obfuscation', 'only false is supported here.', 'unsupported_value');
  return { stream, withUsage };
}
