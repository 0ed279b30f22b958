/** The items of a request to `/v1/responses`, as a body of `/v1/chat/completions`. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { checkKnown, withoutNull, wrongField, wrongValue } from './request.js';

/** An item of an input or output: a message, a call of a tool, its output, or reasoning. */
export type Item = Readonly<Record<string, unknown>>;

/** Returns the items of `input`, whose references are replaced by what they name. */
export function itemsOf(input: unknown, find: (id: string) => Item | undefined): readonly Item[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0) throw wrongValue('input', 'a text or a list of items', input);
  return input.map((item: unknown, at) => {
    if (!isPlainObject(item)) throw wrongValue(`input[${at}]`, 'an item, such as { role, content }', item);
    // A reference may leave out its type.
    const isReference = item['type'] === 'item_reference' || Object.keys(item).join() === 'id';
    if (!isReference) return withoutNull(item);
    const found = find(String(item['id']));
    if (found) return found;
    throw wrongField(`input[${at}]`, `no item with the id ${JSON.stringify(item['id'])} is stored here.`);
  });
}

/** A message of `/v1/chat/completions` that is being put together. */
type Message = Record<string, unknown>;

/** Messages, and what is said of each in an error. */
export interface NamedMessages {
  readonly messages: readonly Message[];
  /** Where each comes from, such as `input[0]`. */
  readonly names: readonly string[];
}

/**
 * Returns the messages of items. A turn of the assistant is one message, with its reasoning and its calls of tools: its
 * items follow one another.
 * @param nameOf returns what an item is called in an error
 */
export function messagesOf(
  items: readonly Item[],
  instructions: unknown,
  nameOf: (at: number) => string,
): NamedMessages {
  const messages: Message[] = [];
  const names: string[] = [];
  let turn: Message | undefined;
  const assistant = (): Message => {
    if (!turn) messages.push((turn = { role: 'assistant', content: '' }));
    return turn;
  };
  if (instructions !== undefined) {
    if (typeof instructions !== 'string') throw wrongValue('instructions', 'a text', instructions);
    messages.push({ role: 'system', content: instructions });
    names.push('instructions');
  }
  for (const [at, item] of items.entries()) {
    const where = nameOf(at);
    const { type = 'message' } = item;
    if (type === 'reasoning') {
      const text = reasoningOf(item);
      if (text !== '') assistant()['reasoning_content'] = text;
    } else if (type === 'function_call') {
      const message = assistant();
      message['tool_calls'] = [...((message['tool_calls'] as object[] | undefined) ?? []), callOf(item, where)];
    } else if (type === 'function_call_output') {
      turn = undefined;
      const { call_id: id, output } = item;
      messages.push({ role: 'tool', tool_call_id: id, content: contentOf(output, `${where}.output`) });
    } else if (type === 'message') {
      const { role, content } = item;
      if (typeof role !== 'string') throw wrongValue(`${where}.role`, 'a role, such as "user"', role);
      const read = contentOf(content, `${where}.content`);
      const isContinued = role === 'assistant' && turn?.['content'] === '' && turn['tool_calls'] === undefined;
      if (isContinued) turn!['content'] = read;
      else {
        messages.push({ role, content: read });
        turn = role === 'assistant' ? messages.at(-1) : undefined;
      }
    } else throw wrongField(`${where}.type`, `${JSON.stringify(type)} is not supported here.`, 'unsupported_value');
    if (names.length < messages.length) names.push(where);
  }
  return { messages, names };
}

function reasoningOf({ content, summary }: Item): string {
  return (
    [content, summary]
      .map((parts) =>
        Array.isArray(parts) ? (parts as readonly { text?: string }[]).map(({ text = '' }) => text) : [],
      )
      .map((texts) => texts.join('\n'))
      .find((text) => text !== '') ?? ''
  );
}

function callOf({ call_id: id, name, arguments: given }: Item, where: string): object {
  if (typeof name !== 'string') throw wrongValue(`${where}.name`, 'the name of a tool', name);
  if (typeof given !== 'string') throw wrongValue(`${where}.arguments`, 'a text of JSON', given);
  return { id, type: 'function', function: { name, arguments: given } };
}

/** The types of parts that are texts. */
const TEXTS = new Set(['input_text', 'output_text', 'text']);

function contentOf(content: unknown, where: string): unknown {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || content.length === 0) throw wrongValue(where, 'a text or a list of parts', content);
  return content.map((part: unknown, at) => {
    const type = isPlainObject(part) ? part['type'] : undefined;
    if (isPlainObject(part) && typeof type === 'string' && TEXTS.has(type)) return { type: 'text', text: part['text'] };
    if (isPlainObject(part) && type === 'input_image')
      return {
        type: 'image_url',
        image_url: { url: part['image_url'], ...('detail' in part && { detail: part['detail'] }) },
      };
    throw wrongField(`${where}[${at}]`, `${JSON.stringify(type ?? null)} is not supported here.`, 'unsupported_value');
  });
}

/** Returns the tools in the form of `/v1/chat/completions`. */
export function chatToolsOf(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  return tools.map((tool: unknown, at) => {
    const type = isPlainObject(tool) ? tool['type'] : undefined;
    if (!isPlainObject(tool) || type !== 'function')
      throw wrongField(`tools[${at}].type`, 'only the type "function" is supported here.', 'unsupported_value');
    const { type: _, ...called } = tool;
    if (typeof called['name'] !== 'string' || called['name'] === '')
      throw wrongValue(`tools[${at}].name`, 'the name of a function', called['name']);
    return { type, function: withoutNull(called) };
  });
}

/** Returns `tool_choice` in the form of `/v1/chat/completions`. */
export function chatToolChoiceOf(choice: unknown): unknown {
  if (!isPlainObject(choice) || choice['type'] !== 'function') return choice;
  return { type: 'function', function: { name: choice['name'] } };
}

/** Returns `text.format` as a `response_format`. */
export function responseFormatOfText(text: unknown): unknown {
  if (text === undefined) return undefined;
  if (!isPlainObject(text)) throw wrongValue('text', 'an object', text);
  // How much a model says has no param.
  checkKnown(text, ['format', 'verbosity'], 'text.');
  const { format } = withoutNull(text);
  if (!isPlainObject(format) || format['type'] !== 'json_schema') return format;
  const { type, ...schema } = format;
  return { type, json_schema: withoutNull(schema) };
}
