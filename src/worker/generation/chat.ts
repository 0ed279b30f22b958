/** Conversations, as a repository's template writes them for its model. */
import type { Files } from '../../contract/archive.js';
import { describeValue } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { Chat } from '../../shared/chat.js';
import { isRecord } from '../../shared/schema.js';
import { load } from '../libraries/jinja.js';

/** Writes a conversation as the text that its model was trained on, up to the beginning of the next answer. */
export type RenderChat = (chat: Chat) => string;

export const CHAT_TEMPLATE = 'chat_template.jinja';
const TOKENIZER_CONFIG = 'tokenizer_config.json';

interface TokenizerConfig {
  readonly chat_template?: string | readonly { readonly name: string; readonly template: string }[] | null;
  readonly [key: string]: unknown;
}

/**
 * Loads the template of a repository: `chat_template.jinja`, or the key of that name in `tokenizer_config.json`, where
 * there may be several by name. With tools, `tool_use` is taken if it is one of them, else `default`, as transformers
 * does.
 * @returns undefined if there is none
 * @throws `model-format` if it is no template
 */
export async function loadChatTemplate(files: Files): Promise<RenderChat | undefined> {
  const config = files.has(TOKENIZER_CONFIG) ? ((await files.json(TOKENIZER_CONFIG)) as TokenizerConfig) : {};
  const own = files.has(CHAT_TEMPLATE) ? await files.text(CHAT_TEMPLATE) : (config.chat_template ?? undefined);
  if (own === undefined) return undefined;
  const sources = typeof own === 'string' ? { default: own } : namedTemplates(own);
  const { Template } = await load();
  const templates = Object.fromEntries(
    Object.entries(sources).map(([name, source]) => {
      try {
        return [name, new Template(source)];
      } catch (cause) {
        throw new TabServeError('model-format', `The chat template "${name}" is no template: ${messageOf(cause)}`, {
          cause,
        });
      }
    }),
  );
  const special = specialTokens(config);
  return ({ messages, tools }) => {
    const template = (tools && templates['tool_use']) ?? templates['default'];
    if (!template)
      throw new TabServeError(
        'invalid-input',
        `The repository has the chat templates ${Object.keys(templates).join(', ')}, and no default one.`,
      );
    try {
      return template.render({
        ...special,
        messages,
        tools: tools ?? null,
        documents: null,
        add_generation_prompt: true,
      });
    } catch (cause) {
      throw new TabServeError(
        'invalid-input',
        `The model's chat template refuses these messages: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    }
  };
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

/** Returns the texts of the tokens that templates write: `bos_token` and its like. */
function specialTokens(config: TokenizerConfig): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => {
      if (!name.endsWith('_token')) return [];
      const text = typeof value === 'string' ? value : (value as { readonly content?: unknown } | null)?.content;
      return typeof text === 'string' ? [[name, text]] : [];
    }),
  );
}
