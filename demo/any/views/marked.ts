import type { QuestionAnswerer, QuestionInput, ResultOf, TokenClassifier } from '../../../src/index.js';
import { palette } from '../../outputs/palette.js';
import { el } from '../../page/dom.js';
import { percent } from '../../page/format.js';
import type { AnswerView } from '../task.js';
import { counted, headed } from './headed.js';

/** A part of a text that is marked. */
interface Mark {
  readonly start: number;
  readonly end: number;
  readonly label: string;
  readonly color: string;
}

/** Returns a text with marks and their labels. A mark that begins within another one is left out. */
function marked(text: string, marks: readonly Mark[]): HTMLElement {
  const nodes: (Node | string)[] = [];
  let at = 0;
  for (const { start, end, label, color } of marks.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue;
    const mark = el('mark', {}, text.slice(start, end), el('small', {}, label));
    mark.style.background = color;
    nodes.push(text.slice(at, start), mark);
    at = end;
  }
  return el('p', { class: 'marked', dir: 'auto' }, ...nodes, text.slice(at));
}

/** Shows the entities of a text. */
export function entitiesView(): AnswerView<ResultOf<TokenClassifier>, string> {
  const colorOf = palette();
  const content = el('div');
  const { element, head } = headed(content);
  return {
    element,
    show(entities, text) {
      head(counted(entities.length, 'entity', 'entities'));
      content.replaceChildren(
        marked(
          text,
          entities.map(({ start, end, label }) => ({ start, end, label, color: colorOf(label) })),
        ),
      );
      return `${counted(entities.length, 'entity', 'entities')}: ${entities.map(({ start, end, label }) => `${text.slice(start, end)}, ${label}`).join('; ')}`;
    },
    clear() {
      head(undefined);
      content.replaceChildren();
    },
  };
}

/** Shows the answers to a question: the best one where it stands in the text. */
export function answersView(): AnswerView<ResultOf<QuestionAnswerer>, QuestionInput> {
  const colorOf = palette();
  const content = el('div');
  const { element, head } = headed(content);
  return {
    element,
    show([best, ...others], { context }) {
      const answer = best?.answer.trim();
      head(answer ? answer : 'No answer in the text', best && percent(best.score));
      content.replaceChildren(
        marked(context, answer ? [{ ...best!, label: 'answer', color: colorOf('answer') }] : []),
        el(
          'ol',
          { class: 'answers', 'aria-label': 'Other answers' },
          ...others.map((one) =>
            el('li', {}, el('span', {}, one.answer || 'No answer'), el('span', {}, percent(one.score))),
          ),
        ),
      );
      return answer ? `${answer}, ${percent(best!.score)}` : 'No answer in the text.';
    },
    clear() {
      head(undefined);
      content.replaceChildren();
    },
  };
}
