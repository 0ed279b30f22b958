import type { Params } from '../../contract/handler.js';
import { TabServeError } from '../../contract/errors.js';
import type { CallOptions, Message, ProviderOptions, ResponseFormat, Tool, Warning } from './specification.js';

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
 * Returns a call of the SDK as an input and params of `text_generator`. @throws `invalid-input` for a part that is no
 * text
 */
export function readCall(options: CallOptions): Call {
  const { prompt, tools = [], toolChoice } = options;
  const offered = toolChoice?.type === 'none' ? [] : tools.filter(({ type }) => type === 'function');
  return {
    input: {
      messages: prompt.map(messageOf),
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
  const { maxOutputTokens, temperature, topP, topK, seed, stopSequences = [], responseFormat } = options;
  const isGreedy = temperature === 0;
  const sampling = { ...(!isGreedy && { temperature }), topP, topK };
  const isSampled = Object.values(sampling).some((value) => value !== undefined);
  const params = {
    maxNewTokens: maxOutputTokens,
    seed,
    stop: stopSequences.length > 0 ? stopSequences : undefined,
    responseFormat: formatOf(responseFormat),
    doSample: isGreedy ? false : isSampled ? true : undefined,
    ...sampling,
    ...providerParams(options.providerOptions),
  };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}

function formatOf(format: ResponseFormat | undefined): object | undefined {
  if (format?.type !== 'json') return undefined;
  return format.schema === undefined ? { type: 'json_object' } : { type: 'json_schema', schema: format.schema };
}

/** Returns a tool in the form that chat templates expect: OpenAI's. */
function toolOf({ name, description, inputSchema }: Tool): object {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function messageOf({ role, content }: Message, index: number): object {
  return { role, content: typeof content === 'string' ? content : content.map(textOf(`prompt[${index}]`)).join('') };
}

function textOf(path: string): (part: object, index: number) => string {
  return (part, index) => {
    const { type, text } = part as { readonly type: string; readonly text?: string };
    if (type === 'text' && text !== undefined) return text;
    throw new TabServeError(
      'invalid-input',
      `${path}.content[${index}]: expected a part of type "text", got one of type "${type}".`,
    );
  };
}

function warningsOf(options: CallOptions): Warning[] {
  const { frequencyPenalty, presencePenalty, reasoning, tools = [], toolChoice } = options;
  const unsupported = (feature: string, details?: string): Warning => ({
    type: 'unsupported',
    feature,
    ...(details !== undefined && { details }),
  });
  const warnings: Warning[] = [];
  if (frequencyPenalty) warnings.push(unsupported('frequencyPenalty'));
  if (presencePenalty) warnings.push(unsupported('presencePenalty'));
  if (reasoning !== undefined && reasoning !== 'provider-default') warnings.push(unsupported('reasoning'));
  for (const { type, name } of tools)
    if (type !== 'function') warnings.push(unsupported(`tool ${name}`, 'This tool is not passed to the model.'));
  if (tools.some(({ type }) => type === 'function') && toolChoice?.type !== 'none')
    warnings.push(
      unsupported('tools', 'The chat template gets the tools. What the model writes about calls stays in its text.'),
    );
  if (toolChoice?.type === 'required' || toolChoice?.type === 'tool')
    warnings.push(unsupported('toolChoice', 'The model is free to call no tool.'));
  return warnings;
}
