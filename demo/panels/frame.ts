import { el } from '../page/dom.js';

/** The parts of a demo's page. */
export interface Parts {
  /** The input and its buttons. */
  readonly well: Node;
  readonly actions: readonly Node[];
  /** The line under the input. */
  readonly note: Node;
  readonly samples: readonly Node[];
  readonly answer: Node;
  readonly timings: Node;
  readonly model: Node;
  readonly backend: Node;
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
      section(
        'input',
        'Input',
        el('div', { class: 'well' }, parts.well),
        el('div', { class: 'actions' }, ...parts.actions),
        parts.note,
      ),
      section('result', 'Result', parts.answer, el('h2', {}, 'Latency'), parts.timings),
      section('picks', 'Samples', el('ul', { class: 'samples' }, ...parts.samples)),
      el(
        'div',
        { class: 'about' },
        section('model-facts', 'Model', parts.model),
        section('runs', 'Engine and backend', parts.backend),
      ),
    ),
    parts.code,
  );
}

function section(name: string, title: string, ...content: readonly Node[]): HTMLElement {
  const heading = el('h2', { id: `${name}-heading` }, title);
  return el('section', { class: name, 'aria-labelledby': heading.id }, heading, ...content);
}
