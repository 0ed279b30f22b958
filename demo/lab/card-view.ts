import type { CandidateName } from '../../src/index.js';
import { el } from '../page/dom.js';
import { conclude, isRun, type Card, type Device, type Row } from './card.js';
import { deviceFacts } from './device.js';
import { ranks } from './ranks.js';

interface Shown {
  readonly model: string;
  readonly device: Device;
  /** Whether a worker has looked for GPUs and threads. */
  readonly isProbed: boolean;
  readonly rows: readonly Row[];
  /** The card of a link, which is shown instead of the rest. */
  readonly shared: Card | undefined;
  readonly notes: Readonly<Partial<Record<CandidateName, string>>>;
}

export interface CardView {
  readonly element: HTMLElement;
  /** The result in words. */
  readonly conclusion: string;
  show(shown: Shown): void;
  /** Says what happens, or what went wrong. */
  say(text: string, state: 'quiet' | 'failed'): void;
}

/** Shows a report card: a sentence, the device, and the ranked backends. */
export function cardView(): CardView {
  const kind = el('p', { class: 'card-kind' });
  const headline = el('h2', { id: 'card-headline', class: 'card-headline' });
  const rest = el('p', { class: 'card-rest' });
  const about = el('ul', { class: 'card-device', 'aria-label': 'Device' });
  const chart = ranks();
  const element = el(
    'article',
    { class: 'report-card', 'aria-labelledby': 'card-headline' },
    el('div', { class: 'card-head' }, kind, headline, rest, about),
    chart.element,
  );
  let said = '';
  let conclusion = '';
  return {
    element,
    get conclusion() {
      return conclusion;
    },
    show({ model, device, isProbed, rows, shared, notes }) {
      const isDone = rows.every(isRun);
      const { headline: best, rest: also } = conclude(rows);
      conclusion = `${best}. ${also}`;
      element.toggleAttribute('data-shared', shared !== undefined);
      kind.textContent = shared
        ? `A shared card, from ${new Date(shared.at).toLocaleDateString('en', { dateStyle: 'long' })}: ${shared.model}`
        : `Report card of this device: ${model}`;
      headline.textContent = isDone ? best : 'Which backend is fastest on this device, and is it right?';
      rest.dataset['idle'] = isDone
        ? also
        : 'Every engine runs the model on every backend, with the same random input. Drop an .onnx file to see how your own does. The first run downloads the engines: 10 to 30\u00a0MB.';
      if (!said) rest.textContent = rest.dataset['idle'];
      const facts = deviceFacts(shared?.device ?? device, shared !== undefined || isProbed);
      about.replaceChildren(...facts.map((fact) => el('li', {}, fact)));
      chart.show(rows, shared ? {} : notes);
    },
    say(text, state) {
      said = text;
      rest.className = state === 'failed' ? 'card-rest failed' : 'card-rest';
      rest.textContent = text || (rest.dataset['idle'] ?? '');
    },
  };
}
