import type { WorkerStatus } from '../requests/sender.js';
import { button, el, setText, table } from './dom.js';
import { describeBackend, inBytes } from './words.js';

export interface WorkersTable {
  readonly element: HTMLElement;
  show(workers: readonly WorkerStatus[]): void;
}

/**
 * Shows the workers of a client, each with a button that ends it.
 * @param onEnd called when one was ended
 */
export function workersTable(label: string, onEnd: (number: number) => void): WorkersTable {
  const heads = ['#', 'State', 'Backend', 'Running', 'Done', 'Memory', '-End'];
  const { element, body } = table(label, heads);
  element.classList.add('workers');
  const rows = new Map<number, ReturnType<typeof rowOf>>();
  return {
    element,
    show(workers) {
      for (const [number, { row }] of rows)
        if (!workers.some((worker) => worker.number === number)) {
          // Who ends workers one after the other by the keyboard stays in the table.
          if (row.contains((row.getRootNode() as ShadowRoot).activeElement)) element.focus();
          row.remove();
          rows.delete(number);
        }
      for (const worker of workers) {
        const known = rows.get(worker.number) ?? rowOf(worker.number, onEnd);
        if (!rows.has(worker.number)) body.append(known.row);
        rows.set(worker.number, known);
        known.show(worker);
      }
    },
  };
}

function rowOf(number: number, onEnd: (number: number) => void) {
  let current: WorkerStatus | undefined;
  const cells = Array.from({ length: 5 }, () => el('td'));
  const end = button('End', () => {
    if (!current?.end) return;
    onEnd(number);
    current.end();
  });
  end.setAttribute('aria-label', `End worker ${number}`);
  const row = el('tr', {}, el('th', { scope: 'row' }, String(number)), ...cells, el('td', {}, end));
  return {
    row,
    show(worker: WorkerStatus) {
      current = worker;
      const { state, backend, batches, runs, memory } = worker;
      const texts = [
        state,
        backend ? describeBackend(backend) : '–',
        String(batches),
        String(runs),
        memory === undefined ? '–' : inBytes(memory),
      ];
      for (const [index, text] of texts.entries()) setText(cells[index]!, text);
      row.dataset['state'] = state;
      end.disabled = worker.end === undefined;
    },
  };
}
