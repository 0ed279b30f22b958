import { TabServeError } from '../../contract/errors.js';
import type { Encoding } from './tokenizer.js';

/** A part of a row: special tokens, or one of the texts. */
type TemplatePart =
  | { readonly ids: readonly number[]; readonly typeId: number }
  | { readonly text: 0 | 1; readonly typeId: number };

/** The parts of a row of one text, and of a row of a pair, in their order. */
export interface Template {
  readonly single: readonly TemplatePart[];
  readonly pair: readonly TemplatePart[];
}

/** `post_processor` of a `tokenizer.json`. */
export type PostProcessor =
  | {
      readonly type: 'TemplateProcessing';
      readonly single: readonly TemplateItem[];
      readonly pair: readonly TemplateItem[];
      readonly special_tokens: Readonly<Record<string, { readonly ids: readonly number[] }>>;
    }
  | {
      readonly type: 'BertProcessing' | 'RobertaProcessing';
      readonly cls: readonly [string, number];
      readonly sep: readonly [string, number];
    }
  | { readonly type: 'ByteLevel' }
  | { readonly type: 'Sequence'; readonly processors: readonly PostProcessor[] };
export type TemplateItem =
  | { readonly SpecialToken: { readonly id: string; readonly type_id: number } }
  | { readonly Sequence: { readonly id: 'A' | 'B'; readonly type_id: number } };

const BARE: Template = {
  single: [{ text: 0, typeId: 0 }],
  pair: [
    { text: 0, typeId: 0 },
    { text: 1, typeId: 1 },
  ],
};

/**
 * Reads a `post_processor`: the positions of special tokens, and each token's type.
 * @throws `unsupported` for an unknown kind
 */
export function parsePostProcessor(value: PostProcessor | null | undefined): Template {
  switch (value?.type) {
    case undefined:
    case 'ByteLevel':
      return BARE;
    case 'TemplateProcessing': {
      const part = (item: TemplateItem): TemplatePart =>
        'Sequence' in item
          ? { text: item.Sequence.id === 'A' ? 0 : 1, typeId: item.Sequence.type_id }
          : { ids: value.special_tokens[item.SpecialToken.id]!.ids, typeId: item.SpecialToken.type_id };
      return { single: value.single.map(part), pair: value.pair.map(part) };
    }
    case 'BertProcessing':
    case 'RobertaProcessing': {
      const bert = value.type === 'BertProcessing';
      const [cls, sep] = [[value.cls[1]], [value.sep[1]]];
      const second = bert ? 1 : 0;
      const single: TemplatePart[] = [
        { ids: cls, typeId: 0 },
        { text: 0, typeId: 0 },
        { ids: sep, typeId: 0 },
      ];
      return {
        single,
        pair: [
          ...single,
          ...(bert ? [] : [{ ids: sep, typeId: 0 }]),
          { text: 1, typeId: second },
          { ids: sep, typeId: second },
        ],
      };
    }
    case 'Sequence': {
      const [template = BARE, ...others] = value.processors
        .filter(({ type }) => type !== 'ByteLevel')
        .map(parsePostProcessor);
      if (others.length === 0) return template;
    }
  }
  throw new TabServeError(
    'unsupported',
    `tokenizer.json has a post_processor that TabServe does not support: ${JSON.stringify(value).slice(0, 200)}. It supports TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, and a Sequence with at most one of the first three.`,
  );
}

/** Returns the number of special tokens in a row. */
export function addedTokens(parts: readonly TemplatePart[]): number {
  return parts.reduce((sum, part) => sum + ('ids' in part ? part.ids.length : 0), 0);
}

/** Returns the number of tokens of a row that are left for its texts. @throws `invalid-input` if there are none */
export function roomOf({ single, pair }: Template, isPair: boolean, maxLength: number): number {
  const added = addedTokens(isPair ? pair : single);
  if (added <= maxLength) return maxLength - added;
  throw new TabServeError(
    'invalid-input',
    `maxLength is ${maxLength}, but the tokenizer alone adds ${added} tokens. Raise maxLength.`,
  );
}

/** Fills the texts' tokens into a template. */
export function fill(
  { single, pair }: Template,
  first: readonly number[],
  second: readonly number[] | undefined,
): Encoding {
  const parts = (second === undefined ? single : pair).map((part) => {
    const ids = 'ids' in part ? part.ids : part.text === 0 ? first : (second ?? []);
    return { ids, typeIds: Array.from(ids, () => part.typeId) };
  });
  return { ids: parts.flatMap(({ ids }) => ids), typeIds: parts.flatMap(({ typeIds }) => typeIds) };
}
