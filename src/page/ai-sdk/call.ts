import type { Params } from '../../contract/handler.js';
import { messagesOf } from './messages.js';
import type { CallOptions, ProviderOptions, ResponseFormat, Tool, Warning } from './specification.js';

/** The name of this provider, also in `providerOptions`. */
export const PROVIDER = 'tabserve';

/** A call of the SDK, as `text_generator` takes it. */
export interface Call {
  readonly input: { readonly messages: readonly object[]; readonly tools?: readonly object[] };
  readonly params: Params;
  /** The settings of the call that the model does not support. */
  readonly warnings: Warning[];
}

/**
 * Returns a call of the SDK as an input and params of `text_generator`. @throws `invalid-input` for a part that is
 * another's, such as a picture
 */
export function readCall(options: CallOptions): Call {
  const { prompt, tools = [], toolChoice } = options;
  const offered = toolChoice?.type === 'none' ? [] : tools.filter(({ type }) => type === 'function');
  return {
    input: {
      messages: messagesOf(prompt),
      ...(offered.length > 0 && { tools: offered.map(toolOf) }),
    },
    params: paramsOf(options),
    warnings: warningsOf(options),
  };
}

/** Returns the params that an app gives in the SDK's `providerOptions`. */
export function providerParams(options: ProviderOptions | undefined): Params {
  return options?.[PROVIDER] ?? {};
}

/**
 * Returns a call's params. A temperature above 0, `topP` and `topK` sample tokens by their probability; a temperature
 * of 0 takes the most probable.
 */
function paramsOf(options: CallOptions): Params {
  const { maxOutputTokens, temperature, topP, topK, seed, stopSequences = [], responseFormat, reasoning } = options;
  const isGreedy = temperature === 0;
  const sampling = { ...(!isGreedy && { temperature }), topP, topK };
  const isSampled = Object.values(sampling).some((value) => value !== undefined);
  const params = {
    maxNewTokens: maxOutputTokens,
    seed,
    stop: stopSequences.length > 0 ? stopSequences : undefined,
    responseFormat: formatOf(responseFormat),
    toolChoice: toolChoiceOf(options),
    chatTemplateKwargs: reasoningOf(reasoning),
    doSample: isGreedy ? false : isSampled ? true : undefined,
    ...sampling,
    ...providerParams(options.providerOptions),
  };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}

/** Returns the tools that must be called; undefined if none must. */
function toolChoiceOf({ toolChoice }: CallOptions): 'required' | { readonly name: string } | undefined {
  if (toolChoice?.type === 'required') return 'required';
  return toolChoice?.type === 'tool' ? { name: toolChoice.toolName! } : undefined;
}

/** Returns what chat templates read of how much a model reasons: the one or the other. */
function reasoningOf(effort: string | undefined): object | undefined {
  if (effort === undefined || effort === 'provider-default') return undefined;
  return { reasoning_effort: effort, enable_thinking: effort !== 'none' };
}

function formatOf(format: ResponseFormat | undefined): object | undefined {
  if (format?.type !== 'json') return undefined;
  return format.schema === undefined ? { type: 'json_object' } : { type: 'json_schema', schema: format.schema };
}

/** Returns a tool in the form that chat templates expect: OpenAI's. */
function toolOf({ name, description, inputSchema }: Tool): object {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function warningsOf(options: CallOptions): Warning[] {
  const { frequencyPenalty, presencePenalty, tools = [] } = options;
  const unsupported = (feature: string, details?: string): Warning => ({
    type: 'unsupported',
    feature,
    ...(details !== undefined && { details }),
  });
  const warnings: Warning[] = [];
  if (frequencyPenalty) warnings.push(unsupported('frequencyPenalty'));
  if (presencePenalty) warnings.push(unsupported('presencePenalty'));
  for (const { type, name } of tools)
    if (type !== 'function') warnings.push(unsupported(`tool ${name}`, 'This tool is not passed to the model.'));
  return warnings;
}
