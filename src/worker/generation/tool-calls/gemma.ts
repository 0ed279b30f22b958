import { allCalls, callOf, jsonOf, type ToolCallForm } from './form.js';

/** What is written before and after a text: by FunctionGemma, and by Gemma 4. */
const QUOTES = ['<escape>', '<|"|>'] as const;
/** A text in its quotes, a sign, or something without quotes. */
const TOKEN = /<escape>([\s\S]*?)<escape>|<\|"\|>([\s\S]*?)<\|"\|>|([{}[\]:,])|([^{}[\]:,<]+)/y;

/** Values are in one another to this depth. */
const MAX_DEPTH = 100;

/** A part of what is written. */
interface Token {
  readonly sign?: string;
  readonly value?: unknown;
}

/** `<start_function_call>call:NAME{…}<end_function_call>` of FunctionGemma, `<|tool_call>call:NAME{…}<tool_call|>` of Gemma 4. */
export const gemma: ToolCallForm = {
  sign: /<start_function_call>|<\|tool_call>/,
  begins: ['<start_function_call>', '<|tool_call>'],
  ends: ['<end_function_call>', '<tool_call|>'],
  tokens: QUOTES,
  parse(text) {
    const [, name, body = ''] = /^\s*call:([\w.-]+)(\{[\s\S]*\})\s*$/.exec(text) ?? [];
    const tokens = tokensOf(body);
    const value = tokens && readValue(tokens, 0);
    return value && tokens.length === 0 ? allCalls([callOf(name, value.value)]) : undefined;
  },
};

/** Returns the parts of a text; undefined for what is none. */
function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const found = TOKEN.exec(text);
    if (!found) return undefined;
    const [, first, second, sign, bare] = found;
    if (sign !== undefined) tokens.push({ sign });
    else if (bare === undefined) tokens.push({ value: first ?? second });
    else if (bare.trim() !== '') tokens.push({ value: jsonOf(bare) === undefined ? bare.trim() : jsonOf(bare) });
  }
  return tokens;
}

/** Takes a value from the beginning; undefined if there is none. */
function readValue(tokens: Token[], depth: number): { readonly value: unknown } | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const first = tokens.shift();
  if (first?.sign === '{') {
    const pairs = readItems(tokens, '}', () => {
      const key = tokens.shift();
      if (!key || key.sign !== undefined || tokens.shift()?.sign !== ':') return undefined;
      const value = readValue(tokens, depth + 1);
      return value && { value: [String(key.value), value.value] as const };
    });
    return pairs && { value: Object.fromEntries(pairs) };
  }
  if (first?.sign === '[') {
    const items = readItems(tokens, ']', () => readValue(tokens, depth + 1));
    return items && { value: items };
  }
  return first && first.sign === undefined ? { value: first.value } : undefined;
}

function readItems<Item>(
  tokens: Token[],
  end: string,
  read: () => { readonly value: Item } | undefined,
): Item[] | undefined {
  const items: Item[] = [];
  while (tokens[0]?.sign !== end) {
    if (items.length > 0 && tokens.shift()?.sign !== ',') return undefined;
    const item = read();
    if (!item) return undefined;
    items.push(item.value);
  }
  tokens.shift();
  return items;
}
