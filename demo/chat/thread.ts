import { button, el } from '../page/dom.js';
import { showSent, type Attached } from './attachment.js';

/** The answer that is being written. */
export interface AnswerView {
  text(part: string): void;
  thought(part: string): void;
  /** Shows a call of a tool with what the tool returned. */
  called(name: string, given: unknown, output: string): void;
}

export interface Thread {
  readonly element: HTMLElement;
  /** Adds the visitor's message. */
  ask(text: string, attached: Attached | undefined): void;
  /** Begins the answer to it. */
  answer(): AnswerView;
  clear(): void;
}

/** Creates the list of messages. @param says what stands there before the first message @param examples questions to click */
export function thread(says: string, examples: readonly string[], chosen: (example: string) => void): Thread {
  const list = el('ol', { class: 'chat-messages' });
  const empty = el(
    'div',
    { class: 'chat-empty' },
    el('p', {}, says),
    el('div', { class: 'actions' }, ...examples.map((example) => button(example, () => chosen(example)))),
  );
  const element = el(
    'div',
    { class: 'chat-thread', role: 'log', 'aria-label': 'The conversation', tabindex: '0' },
    empty,
    list,
  );
  /** Adds something, and scrolls to it if the visitor has not scrolled away from the end. */
  const adding = (add: () => void): void => {
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 60;
    add();
    if (isAtEnd) element.scrollTop = element.scrollHeight;
  };
  return {
    element,
    ask(text, attached) {
      const message = el('li', { class: 'chat-asked' }, el('span', { class: 'unseen' }, 'You: '));
      if (attached) message.append(showSent(attached));
      message.append(text);
      empty.hidden = true;
      list.append(message);
      element.scrollTop = element.scrollHeight;
    },
    answer() {
      const message = el('li', { class: 'chat-answer' }, el('span', { class: 'unseen' }, 'The model: '));
      adding(() => list.append(message));
      let thoughts: HTMLElement | undefined;
      return {
        text: (part) => adding(() => message.append(part)),
        thought(part) {
          if (!thoughts) {
            thoughts = el('div', {});
            message.append(el('details', { class: 'chat-thoughts' }, el('summary', {}, 'Thoughts'), thoughts));
          }
          const own = thoughts;
          adding(() => own.append(part));
        },
        called(name, given, output) {
          // What it thinks next is about the tool's answer.
          thoughts = undefined;
          const call = el('code', {}, `${name}(${JSON.stringify(given)})`);
          adding(() => message.append(el('p', { class: 'chat-call' }, call, ' → ', el('code', {}, output))));
        },
      };
    },
    clear() {
      list.replaceChildren();
      empty.hidden = false;
    },
  };
}
