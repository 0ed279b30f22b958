/** Conversations, as a repository's template writes them for its model. */
import type { Files } from '../../contract/archive.js';
import { describeValue } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { withJoinedParts, withParsedArguments, type Chat } from '../../shared/chat.js';
import { limitedStep } from '../../shared/limited-step.js';
import { loadScript } from '../../shared/load-script.js';
import { isRecord } from '../../shared/schema.js';
import { readTokenizerConfig, specialTokensOf, TOKENIZER_CONFIG } from '../text/tokenizer-config.js';
import { continueLast, CUT, isContinued, lastText } from './continued-message.js';
import { isSpace, stripEnds } from './jinja/characters.js';
import type { Template } from './jinja/template.js';

/** Writes conversations as the texts that their model was trained on. */
export interface ChatTemplate {
  /**
   * Returns a conversation's text, up to the beginning of the next answer.
   * @param variables what else the template reads, such as `enable_thinking`
   */
  render(chat: Chat, variables?: Readonly<Record<string, unknown>>): string;
  /** Returns the source of the template that writes a conversation. */
  sourceOf(chat: Chat): string;
}

export const CHAT_TEMPLATE = 'chat_template.jinja';
/** Of the templates in this folder, transformers takes this one by itself: for conversations with tools. */
export const TOOL_TEMPLATE = 'additional_chat_templates/tool_use.jinja';
/** Where a handler finds it: the extra files of an archive lie at its root. */
const TOOL_FILE = 'tool_use.jinja';

/**
 * Loads the template of a repository: `chat_template.jinja`, or the key of that name in `tokenizer_config.json`, where
 * there may be several by name. With tools, `tool_use` is taken if it is one of them, else `default`, as transformers
 * does.
 * @param otherwise the template, if there is none
 * @returns undefined if there is none
 * @throws `model-format` if it is no template; `model-config` if it uses what templates do not have here
 */
export async function loadChatTemplate(files: Files, otherwise?: string): Promise<ChatTemplate | undefined> {
  const config = await readTokenizerConfig(files);
  const sources = await sourcesOf(files, config['chat_template'] ?? otherwise);
  if (Object.keys(sources).length === 0) return undefined;
  const { Template: Made } = await loadScript(() => import('./jinja/template.js'));
  const templates = Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, told(`"${name}"`, () => new Made(source))]),
  );
  const special = specialTokensOf(config);
  const nameOf = ({ tools }: Chat): string => {
    const name = tools && templates['tool_use'] ? 'tool_use' : 'default';
    if (templates[name]) return name;
    throw new TabServeError(
      'invalid-input',
      `The repository has the chat templates ${Object.keys(templates).join(', ')}, and no default one.`,
    );
  };
  return {
    sourceOf: (chat) => sources[nameOf(chat)]!,
    render(chat, variables = {}) {
      checkVariables(variables);
      const template = templates[nameOf(chat)]!;
      return render(template, { ...special, ...variables }, template.takesParts ? chat : withJoinedParts(chat));
    },
  };
}

/** The variables that the conversation itself sets. */
const OWN = ['messages', 'tools', 'add_generation_prompt', 'continue_final_message'];

/** @throws `invalid-input` for a variable that the conversation sets */
function checkVariables(variables: Readonly<Record<string, unknown>>): void {
  const wrong = OWN.find((name) => Object.hasOwn(variables, name));
  if (wrong === undefined) return;
  throw new TabServeError(
    'invalid-input',
    `params.chatTemplateKwargs: ${wrong} is set by the conversation itself. Change the input.`,
  );
}

/** Returns the templates by their names. Files come before the config, as in transformers. */
async function sourcesOf(files: Files, own: unknown): Promise<Readonly<Record<string, string>>> {
  const found = await Promise.all(
    [CHAT_TEMPLATE, TOOL_FILE].map(async (path) => (files.has(path) ? await files.text(path) : undefined)),
  );
  const named = Object.entries({ default: found[0], tool_use: found[1] }).filter(([, source]) => source !== undefined);
  if (named.length > 0) return Object.fromEntries(named) as Record<string, string>;
  if (own === undefined || own === null) return {};
  return typeof own === 'string' ? { default: own } : namedTemplates(own);
}

function namedTemplates(templates: unknown): Readonly<Record<string, string>> {
  const isNamed = (one: unknown): boolean =>
    isRecord(one) && typeof one['name'] === 'string' && typeof one['template'] === 'string';
  if (!Array.isArray(templates) || !templates.every(isNamed))
    throw new TabServeError(
      'model-format',
      `${TOKENIZER_CONFIG}: chat_template: expected a template, or a list of { name, template }, got ${describeValue(templates)}.`,
    );
  return Object.fromEntries(
    (templates as readonly { name: string; template: string }[]).map(({ name, template }) => [name, template]),
  );
}

/**
 * Renders a conversation. Arguments of calls are mappings for most templates; a few can only add a text to theirs, and
 * then get the text that was given.
 */
function render(template: Template, special: Readonly<Record<string, unknown>>, chat: Chat): string {
  const parsed = withParsedArguments(chat);
  try {
    return renderOne(template, special, parsed);
  } catch (error) {
    if (parsed === chat || kindOf((error as Error).cause) !== 'runtime') throw error;
    return renderOne(template, special, chat);
  }
}

/** A template counts what it does. This also limits what it does not count. */
const STEP = { name: 'The chat template of the model', remedy: 'Shorten the conversation.' };

function renderOne(template: Template, special: Readonly<Record<string, unknown>>, chat: Chat): string {
  const isOpen = isContinued(chat);
  const { messages, tools } = isOpen ? continueLast(chat) : chat;
  const variables = { documents: null, ...special, messages, tools: tools ?? null, add_generation_prompt: !isOpen };
  const text = told('of the model', () => limitedStep(STEP, () => template.render(variables)));
  return isOpen ? cut(text, lastText(chat)) : text;
}

/** Returns the text up to where the last message ends. */
function cut(text: string, last: string): string {
  const at = text.lastIndexOf(CUT.trim());
  if (at < 0 || !text.includes(stripEnds(last, isSpace, 'both')))
    throw new TabServeError(
      'invalid-input',
      "The last message is one of the assistant, which the model would continue, but the chat template leaves it out, or a part of it. Remove it, or end with the user's message.",
    );
  return text.startsWith(CUT, at) ? text.slice(0, at) : stripEnds(text.slice(0, at), isSpace, 'right');
}

/** What happened, by the kind of the template's error. */
const MEANINGS = {
  syntax: ['model-format', 'is no template'],
  unsupported: ['model-config', 'needs what TabServe does not have'],
  limit: ['model-config', 'takes too long, or writes too much'],
  raised: ['invalid-input', 'refuses these messages'],
  runtime: ['invalid-input', 'fails on these messages, as in Python'],
} as const;

function kindOf(error: unknown): keyof typeof MEANINGS | undefined {
  const kind = (error as { readonly kind?: unknown } | undefined)?.kind;
  return typeof kind === 'string' && Object.hasOwn(MEANINGS, kind) ? (kind as keyof typeof MEANINGS) : undefined;
}

/** Runs what may throw a template's error, which it turns into ours. */
function told<Result>(name: string, run: () => Result): Result {
  try {
    return run();
  } catch (cause) {
    const kind = kindOf(cause);
    if (!kind) throw cause;
    const [code, meaning] = MEANINGS[kind];
    throw new TabServeError(code, `The chat template ${name} ${meaning}: ${messageOf(cause)}`, { cause });
  }
}
