/** Conversations, as `text_generator` takes them. */
import { invalidInput, type TabServeError } from '../contract/errors.js';
import type { Medium } from '../contract/handler.js';
import { isPlainObject } from './is-plain-object.js';
import { wrongValue } from './read-options.js';

/** One message of a conversation. Templates may read other keys, such as `tool_calls`. */
export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly [key: string]: unknown;
}

/** A conversation. */
export interface Chat {
  readonly messages: readonly ChatMessage[];
  /**
   * The tools that the model may call, in the template's form: mostly OpenAI's `{ type: 'function', function: { … } }`.
   */
  readonly tools?: readonly unknown[] | undefined;
}

/** A conversation before it was checked. */
interface Asked {
  readonly messages?: unknown;
  readonly tools?: unknown;
}

/** A part of a content. Templates that take lists of parts read it as it is. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A picture, or sound, in a content: under the key that its type names. */
interface MediumPart {
  readonly type: Medium;
  readonly image?: unknown;
  readonly audio?: unknown;
}

/**
 * Checks a conversation, whose contents are texts or lists of parts. Calls of tools that are none, null or an empty list,
 * are left out: templates ask whether there are any.
 * @param media what the model takes besides texts
 * @throws `invalid-input` naming what a conversation must be, and what was given
 */
export function readChat({ messages, tools }: Asked, media: readonly Medium[] = []): Chat {
  if (!Array.isArray(messages) || messages.length === 0)
    throw wrongValue('messages', 'a list of { role, content } with at least one', messages);
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw wrongValue('tools', 'a list', tools);
  return {
    tools: tools ?? undefined,
    messages: messages.map((message: unknown, at) => readMessage(message, `messages[${at}]`, media)),
  };
}

/** Reads a message. Only a message that calls tools may have no content. */
function readMessage(message: unknown, where: string, media: readonly Medium[]): ChatMessage {
  if (!isPlainObject(message) || typeof message['role'] !== 'string')
    throw wrongValue(where, '{ role, content }', message);
  const { tool_calls: calls, ...others } = message;
  const { content } = others;
  const isEmpty = (content === undefined || content === null) && 'tool_calls' in message;
  const hasCalls = Array.isArray(calls) ? calls.length > 0 : calls !== undefined && calls !== null;
  const read = isEmpty ? content : readContent(content, `${where}.content`, media);
  // The keys stay in their order: a template may print a message.
  return { ...(hasCalls ? message : others), content: read } as ChatMessage;
}

function readContent(
  content: unknown,
  where: string,
  media: readonly Medium[],
): string | readonly (TextPart | MediumPart)[] {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || content.length === 0)
    throw wrongValue(where, "a text, or a list of { type: 'text', text } with at least one", content);
  for (const [at, part] of content.entries()) {
    if (isPlainObject(part) && part['type'] === 'text' && typeof part['text'] === 'string') continue;
    const type = isPlainObject(part) ? (part['type'] ?? part) : part;
    const medium = media.find((one) => one === type);
    if (medium) {
      const given = (part as Record<string, unknown>)[medium];
      if (isObject(given)) continue;
      throw wrongMedium(given, `${where}[${at}].${medium}`, medium);
    }
    const { message } = wrongValue(`${where}[${at}]`, expectedOf(media), type);
    throw invalidInput(message + remedyFor(String(type), media));
  }
  return content as readonly (TextPart | MediumPart)[];
}

/** Says what a part of a content may be. */
function expectedOf(media: readonly Medium[]): string {
  if (media.length === 0) return 'a part of type "text": this model reads texts alone';
  const parts = ['text', ...media].map((one) => `{ type: '${one}', ${one} }`);
  return `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)!}`;
}

/** What the key of a medium takes: the types of `ClientInput` have the rest. */
const EXPECTED: Readonly<Record<Medium, string>> = {
  image: 'a File or Blob, a URL object, an element, or pixels',
  audio: 'a File or Blob, a URL object, an AudioBuffer, or samples',
};

/** Says what to pass in place of a value, such as a path: a text is never an address, so that none causes a request. */
function wrongMedium(value: unknown, where: string, medium: Medium): TabServeError {
  const { message } = wrongValue(where, EXPECTED[medium], value);
  const hint = ' For a file on the web, pass new URL(…, location.href); for a file on disk, new Blob([bytes]).';
  return invalidInput(message + (typeof value === 'string' ? hint : ''));
}

/** What to do with pictures, sound and films that a model does not take. */
const REMEDIES: readonly (readonly [Medium | 'video', string])[] = [
  ['image', ' A model of image_text_to_text reads pictures.'],
  ['audio', ' A model of audio_text_to_text hears sound.'],
  ['video', ' Pass some of its frames as pictures, to a model of image_text_to_text.'],
];

/** @param type that of a part, such as `image`, or OpenAI's `image_url` */
function remedyFor(type: string, media: readonly string[]): string {
  return REMEDIES.find(([name]) => !media.includes(name) && type.includes(name))?.[1] ?? '';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Returns a conversation with the parts of each content joined to a text, for a template that takes no parts. */
export function withJoinedParts(chat: Chat): Chat {
  const joined = ({ content }: ChatMessage): unknown =>
    Array.isArray(content) ? (content as readonly Partial<TextPart>[]).map(({ text = '' }) => text).join('') : content;
  return { ...chat, messages: chat.messages.map((message) => ({ ...message, content: joined(message) })) };
}

/**
 * Returns a conversation with the arguments of calls that are a text of JSON, as OpenAI has them, as mappings, which
 * templates of Hugging Face take.
 * @throws `invalid-input` for arguments that are no object of JSON
 */
export function withParsedArguments(chat: Chat): Chat {
  const parsed = chat.messages.map((message, at) => {
    const calls = message['tool_calls'];
    if (!Array.isArray(calls)) return message;
    return {
      ...message,
      tool_calls: calls.map((call, index) => parseCall(call, `messages[${at}].tool_calls[${index}]`)),
    };
  });
  return { ...chat, messages: parsed };
}

function parseCall(call: unknown, where: string): unknown {
  const owner = isPlainObject(call) && isPlainObject(call['function']) ? call['function'] : call;
  if (!isPlainObject(owner) || typeof owner['arguments'] !== 'string') return call;
  const parsed = { ...owner, arguments: parseArguments(owner['arguments'], where) };
  return owner === call ? parsed : { ...(call as object), function: parsed };
}

function parseArguments(text: string, where: string): unknown {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isPlainObject(value)) return value;
  throw wrongValue(`${where}.function.arguments`, 'a text of JSON with an object', text);
}

/** A picture or a recording of a conversation. */
export interface TakenMedium {
  readonly medium: Medium;
  readonly value: unknown;
}

/** Returns a conversation without its pictures and its sound, whose parts stay, and what was in them in its order. */
export function takeMedia({ messages, ...chat }: Chat): {
  readonly chat: Chat;
  readonly media: readonly TakenMedium[];
} {
  const media: TakenMedium[] = [];
  const others = messages.map((message) => {
    if (!Array.isArray(message.content)) return message;
    const content = (message.content as readonly (TextPart | MediumPart)[]).map((part) => {
      if (part.type === 'text') return part;
      media.push({ medium: part.type, value: part[part.type] });
      return { type: part.type };
    });
    return { ...message, content };
  });
  return { chat: { ...chat, messages: others }, media };
}
