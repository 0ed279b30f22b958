/** Views of answers that are lists of texts. */
import type {
  Classification,
  FilledMask,
  RankedText,
  RankingInput,
  ResultOf,
  SpeechRecognizer,
  TextGenerator,
} from '../../../src/index.js';
import { bars } from '../../outputs/bars.js';
import { el } from '../../page/dom.js';
import type { AnswerView } from '../task.js';
import { counted, headed } from './headed.js';

/** The maximum number of texts in a list. */
const MAX_LISTED = 100;

/** Shows texts in the order of their scores. */
export function rankingView(): AnswerView<readonly RankedText[], RankingInput> {
  const list = el('ol', { class: 'ranked', 'aria-label': 'Texts, the best first' });
  const { element, head } = headed(list);
  return {
    element,
    show(ranked, { texts }) {
      head(counted(ranked.length, 'text'));
      list.replaceChildren(
        ...ranked
          .slice(0, MAX_LISTED)
          .map(({ index, score }) =>
            el('li', {}, el('span', { dir: 'auto' }, texts[index]!), el('span', {}, score.toFixed(3))),
          ),
      );
      return ranked[0] ? `The best is: ${texts[ranked[0].index]!}` : 'No text.';
    },
    clear() {
      head(undefined);
      list.replaceChildren();
    },
  };
}

/** Shows what may stand in the place of each mask. */
export function masksView(): AnswerView<readonly (readonly FilledMask[])[], string> {
  const element = el('div', { class: 'filled' });
  const draw = (masks: readonly Classification[]): void =>
    element.replaceChildren(
      ...masks.map((candidates) => {
        const view = bars(Math.max(1, Math.min(10, candidates.length)));
        view.show(candidates);
        return view.element;
      }),
    );
  draw([[]]);
  return {
    element,
    show(masks) {
      draw(masks);
      return masks.map(([best]) => best?.label ?? 'nothing').join(', ');
    },
    clear: () => draw([[]]),
  };
}

/** Shows a text that a model has written. */
export function writtenView(): AnswerView<ResultOf<TextGenerator>> {
  const text = el('p', { class: 'marked', dir: 'auto' });
  const { element, head } = headed(text);
  return {
    element,
    show({ text: written, finishReason, usage }) {
      head(counted(usage.completionTokens, 'token'), finishReason === 'length' ? 'ended by the limit' : '');
      text.textContent = written;
      return written;
    },
    clear() {
      head(undefined);
      text.textContent = '';
    },
  };
}

/** Shows what is said in a recording, and when each part is, if the answer says it. */
export function spokenView(): AnswerView<ResultOf<SpeechRecognizer>> {
  const text = el('p', { class: 'marked', dir: 'auto' });
  const list = el('ol', { class: 'ranked', 'aria-label': 'Parts, in their order' });
  const { element, head } = headed(text, list);
  return {
    element,
    show({ text: spoken, parts = [] }) {
      const words = counted(spoken.trim().split(/\s+/).length, 'word');
      head(spoken === '' ? 'Nothing is said' : parts.length > 0 ? counted(parts.length, 'part') : words);
      text.textContent = spoken;
      list.replaceChildren(
        ...parts
          .slice(0, MAX_LISTED)
          .map((part) =>
            el('li', {}, el('span', { dir: 'auto' }, part.text), el('span', {}, `${part.start.toFixed(2)} s`)),
          ),
      );
      return spoken === '' ? 'Nothing is said.' : spoken;
    },
    clear() {
      head(undefined);
      text.textContent = '';
      list.replaceChildren();
    },
  };
}

/** Says only that there is an answer: its JSON is below. */
export function plainView(): AnswerView {
  const { element, head } = headed();
  return {
    element,
    show() {
      head('Answered, in JSON below');
      return 'Answered.';
    },
    clear: () => head(undefined),
  };
}
