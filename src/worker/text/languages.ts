/** The languages of a multilingual model's tokenizer, such as those of mBART, NLLB and M2M100. */
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { nearestName } from '../../shared/nearest-name.js';
import type { Template } from './post-processor.js';

/** The codes of languages. Each is a special token; that of a text's own language stands beside the text. */
export interface Languages {
  /** @param name the param, for the message @throws `invalid-input` for a code that the tokenizer does not have */
  idOf(code: string, name: string): number;
  /** Returns the template for texts of a language; without one, of the language that the files name. */
  templateFor(id?: number): Template;
}

/** A token that a `tokenizer.json` adds to its vocabulary. */
interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
}

/** mBART's `en_XX`, NLLB's `eng_Latn`, M2M100's `__en__`. */
const CODE = /^(?:[a-z]{2,3}_[A-Z][A-Za-z]{1,3}|__([a-z]{2,3})__)$/;

/**
 * Finds the codes of languages: special tokens that look like one, if one of them stands beside each text.
 * @param template what stands beside a text, by `tokenizer.json`
 * @param ownCode `src_lang` of `tokenizer_config.json`, which wins over the language in the template
 * @returns undefined if there are none
 */
export function findLanguages(
  added: readonly AddedToken[],
  template: Template,
  ownCode: unknown,
): Languages | undefined {
  const ids = new Map(
    added.flatMap(({ id, content, special }) => {
      const [found, bare] = (special && CODE.exec(content)) || [];
      return found === undefined ? [] : [[bare ?? found, id] as const];
    }),
  );
  const codes = new Set(ids.values());
  const isCode = (id: number): boolean => codes.has(id);
  if (!template.single.some((part) => 'ids' in part && part.ids.some(isCode))) return undefined;
  const own = ids.get(ownCode as string);
  return {
    idOf(code, name) {
      const id = ids.get(code.replace(CODE, (found, bare?: string) => bare ?? found));
      if (id !== undefined) return id;
      const meant = nearestName(code, [...ids.keys()]);
      const advice =
        meant === undefined ? `It has ${shorten([...ids.keys()].join(', '))}.` : `Did you mean "${meant}"?`;
      throw new TabServeError(
        'invalid-input',
        `params.${name}: the model's tokenizer has no language "${shorten(code)}". ${advice}`,
      );
    },
    templateFor(language = own) {
      if (language === undefined) return template;
      const change = (parts: Template['single']): Template['single'] =>
        parts.map((part) =>
          'ids' in part ? { ...part, ids: part.ids.map((id) => (isCode(id) ? language : id)) } : part,
        );
      return { single: change(template.single), pair: change(template.pair) };
    },
  };
}
