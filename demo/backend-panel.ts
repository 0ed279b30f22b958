import type { Backend, BackendName } from '../src/index.js';
import { el } from './dom.js';

const NAMES: Readonly<Record<BackendName, string>> = { webgpu: 'WebGPU', webgl: 'WebGL', wasm: 'WASM', cpu: 'JavaScript' };
const BACKENDS = ['webgpu', 'webgl', 'wasm'] as const;

export type Choice = 'auto' | (typeof BACKENDS)[number];

export interface BackendPanel {
  readonly element: HTMLElement;
  readonly choice: Choice;
  /** The choice in words: `on WebGPU`. */
  readonly where: string;
  opening(): void;
  runs(backend: Backend): void;
  /** `tried`: it is the backends that failed, and not the model. */
  failed(tried: boolean): void;
}

/** Which backend runs, why the others do not, and a switch. */
export function backendPanel(switched: () => void): BackendPanel {
  let choice: Choice = 'auto';
  const radios = (['auto', ...BACKENDS] as const).map((name) => {
    const radio = el('input', { type: 'radio', name: 'backend', value: name });
    radio.checked = name === choice;
    radio.addEventListener('change', () => {
      choice = name;
      switched();
    });
    return el('label', {}, radio, el('span', {}, name === 'auto' ? 'Auto' : NAMES[name]));
  });
  const rows = BACKENDS.map((name) => {
    const says = el('span', { class: 'says' });
    return { name, says, element: el('li', {}, el('span', { class: 'dot', 'aria-hidden': 'true' }), el('span', { class: 'backend-name' }, NAMES[name]), says) };
  });
  const element = el(
    'div',
    { class: 'backend' },
    el('div', { class: 'segments', role: 'radiogroup', 'aria-labelledby': 'backend-heading' }, ...radios),
    el('ul', { class: 'backends' }, ...rows.map((row) => row.element)),
  );
  const set = (row: (typeof rows)[number], state: 'idle' | 'waiting' | 'runs' | 'skipped' | 'failed', text: string): void => {
    row.element.dataset['state'] = state;
    row.says.textContent = text;
  };
  const asked = (name: BackendName): boolean => choice === 'auto' || choice === name;

  return {
    element,
    get choice() {
      return choice;
    },
    get where() {
      return choice === 'auto' ? 'on the first backend that can' : `on ${NAMES[choice]}`;
    },
    opening() {
      for (const row of rows) set(row, asked(row.name) ? 'waiting' : 'idle', asked(row.name) ? 'opening…' : 'not asked for');
    },
    runs({ name: running, threads, skipped }) {
      for (const row of rows) {
        const reason = skipped.find(({ name }) => name === row.name)?.reason;
        if (row.name === running) set(row, 'runs', running === 'wasm' ? `runs, on ${threads} ${threads === 1 ? 'thread' : 'threads'}` : 'runs');
        else if (reason !== undefined) set(row, 'skipped', reason);
        else set(row, 'idle', asked(row.name) ? 'not needed' : 'not asked for');
      }
    },
    failed(tried) {
      for (const row of rows) {
        if (asked(row.name)) set(row, tried ? 'failed' : 'idle', tried ? 'could not be opened' : 'not running');
        else set(row, 'idle', 'not asked for');
      }
    },
  };
}
