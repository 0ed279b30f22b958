/** Params of generation that transformers has and TabServe does not: each is refused by its name. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { ConfigSchema } from '../../shared/schema.js';

/** Params of transformers that change an answer, and that no handler here has. */
export const UNSUPPORTED = new Set([
  'assistantModel',
  'cacheImplementation',
  'constraints',
  'diversityPenalty',
  'doDeterministic',
  'dolaLayers',
  'encoderNoRepeatNgramSize',
  'encoderRepetitionPenalty',
  'epsilonCutoff',
  'etaCutoff',
  'exponentialDecayLengthPenalty',
  'forceWordsIds',
  'guidanceScale',
  'maxLength',
  'maxTime',
  'minLength',
  'numBeams',
  'numBeamGroups',
  'numReturnSequences',
  'outputAttentions',
  'outputHiddenStates',
  'outputScores',
  'penaltyAlpha',
  'prefixAllowedTokensFn',
  'promptLookupNumTokens',
  'responseFormat',
  'sequenceBias',
  'stopStrings',
  'suppressTokens',
  'beginSuppressTokens',
  'tokenHealing',
  'typicalP',
  'watermarkingConfig',
]);
/** What to use in their place. */
const INSTEAD: Readonly<Record<string, string>> = {
  maxLength: 'maxNewTokens',
  minLength: 'minNewTokens',
  stopStrings: 'stop',
  outputScores: 'returnLogprobs or topLogprobs',
};

/**
 * Refuses what transformers knows and this handler does not: another answer without a word would be wrong.
 * @throws `invalid-input` by name
 */
export function refuseUnsupported(params: Params, schema: ConfigSchema): void {
  for (const name of Object.keys(params)) {
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (name === 'temperature' && params[name] === 0)
      throw new TabServeError(
        'invalid-input',
        'params.temperature: the logits cannot be divided by 0. Set doSample: false, which takes the most probable token.',
      );
    if (Object.hasOwn(schema, name)) continue;
    if (Object.hasOwn(schema, camel))
      throw new TabServeError('invalid-input', `params.${name}: it is called ${camel} here.`);
    if (UNSUPPORTED.has(camel))
      throw new TabServeError(
        'invalid-input',
        `params.${name}: it is not supported (got ${describeValue(params[name])}).${INSTEAD[camel] ? ` Use ${INSTEAD[camel]}.` : ''}`,
      );
  }
}
