import type { QuestionInput, RankingInput } from '../../../src/index.js';
import { el } from '../../page/dom.js';
import type { Fields } from '../task.js';
import { literal } from '../../demos/code.js';
import { area, labelled, line, namesOf, textOf } from './labelled.js';

/** Creates the field of a text. @param labels of the field for labels, if there is one */
export function textFields(text: string, labels?: string): Fields<string> {
  const field = area('Text', text);
  const names = labels === undefined ? undefined : line('Labels, with commas between them', labels);
  return {
    get code() {
      return literal(field.value);
    },
    element: el('div', { class: 'any-input' }, labelled(field), ...(names ? [labelled(names)] : [])),
    get params() {
      return names ? { labels: namesOf(names.value, 'the labels to choose from') } : {};
    },
    input: () => textOf(field),
  };
}

/** Creates the fields of a question, and of the text that answers it. */
export function questionFields({ question, context }: QuestionInput): Fields<QuestionInput> {
  const [asks, about] = [line('Question', question), area('Text', context)];
  return {
    get code() {
      return literal({ question: asks.value, context: about.value });
    },
    element: el('div', { class: 'any-input' }, labelled(asks), labelled(about)),
    input: () => ({ question: textOf(asks), context: textOf(about) }),
  };
}

/** Creates the fields of a query, and of texts to rank. */
export function rankedFields({ query, texts }: RankingInput): Fields<RankingInput> {
  const [asks, about] = [line('Query', query), area('Texts, one in each line', texts.join('\n'))];
  const listed = (): readonly string[] => about.value.split('\n').flatMap((text) => text.trim() || []);
  return {
    get code() {
      return literal({ query: asks.value, texts: listed() });
    },
    element: el('div', { class: 'any-input' }, labelled(asks), labelled(about)),
    input() {
      textOf(about);
      return { query: textOf(asks), texts: listed() };
    },
  };
}
