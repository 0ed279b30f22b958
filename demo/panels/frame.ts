import { el } from '../page/dom.js';

/** The parts of a demo's page. */
export interface Parts {
  /** The input and its buttons. */
  readonly well: Node;
  readonly actions: readonly Node[];
  /** The line under the input. */
  readonly note: Node;
  readonly samples: Node;
  /** The buttons of the result. */
  readonly resultActions: readonly Node[];
  readonly answer: Node;
  readonly backend: Node;
  readonly model: Node;
  readonly code: Node;
}

/** Arranges the parts of a demo's page. */
export function frame(id: string, layout: 'wide' | 'square', parts: Parts): HTMLElement {
  return el(
    'div',
    { class: 'demo' },
    el(
      'div',
      { class: 'instrument', 'data-demo': id, 'data-layout': layout },
      el(
        'div',
        { class: 'given' },
        section('input', 'Input', [], parts.well),
        section('picks', 'Samples', [], parts.samples),
        el('div', { class: 'own' }, el('div', { class: 'actions' }, ...parts.actions), parts.note),
      ),
      el(
        'div',
        { class: 'found-out' },
        section('result', 'Result', parts.resultActions, parts.answer),
        section('runs', 'Runs on', [], parts.backend),
      ),
      section('about-model', 'Model', [], parts.model),
    ),
    parts.code,
  );
}

function section(name: string, title: string, actions: readonly Node[], ...content: readonly Node[]): HTMLElement {
  const heading = el('h2', { id: `${name}-heading` }, title);
  const head = actions.length > 0 ? el('div', { class: 'part-head' }, heading, ...actions) : heading;
  return el('section', { class: name, 'aria-labelledby': heading.id }, head, ...content);
}
