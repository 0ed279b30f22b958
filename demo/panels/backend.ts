import type { Backend, CandidateName, ModelFormat } from '../../src/index.js';
import type { ModelFacts } from '../demo.js';
import { el } from '../page/dom.js';
import type { Settings } from '../page/route.js';
import { segments } from '../page/segments.js';

const ENGINES: Readonly<Record<ModelFormat, string>> = { onnx: 'ONNX Runtime', tfjs: 'TensorFlow.js' };
const BACKENDS = { webgpu: 'WebGPU', webgl: 'WebGL', wasm: 'WASM' } as const;
/** What is not offered here, but may be what a client runs on. */
const OTHERS = { webnn: 'WebNN', cpu: 'JavaScript', remote: 'A server' } as const;
type BackendName = keyof typeof BACKENDS;

export interface BackendPanel {
  readonly element: HTMLElement;
  /** The candidates that the visitor chose; undefined leaves the choice to the SDK. */
  readonly candidates: readonly CandidateName[] | undefined;
  /** The visitor's choice, in words: `on WebGPU`. */
  readonly where: string;
  /** The visitor's choice: `{ backend: 'auto', engine: 'onnx' }`. */
  readonly settings: Settings;
  /** Sets the choice. It opens nothing. */
  restore(settings: Settings): void;
  /** Offers the candidates for this model. */
  offer(model: ModelFacts): void;
  /** Says that no model is open. */
  idle(): void;
  opening(): void;
  /** @returns it in words: `WASM, ONNX Runtime` */
  runs(backend: Backend): string;
  /** `tried`: whether the backends failed, and not the model's download. */
  failed(tried: boolean): void;
}

interface Row {
  readonly engine: ModelFormat;
  readonly name: BackendName;
  readonly element: HTMLElement;
  readonly says: HTMLElement;
}

/**
 * Shows which engine runs on which backend, with a switch for both; folded, why the others do not.
 * @param between is shown between what runs and the switches
 */
export function backendPanel(switched: () => void, ...between: readonly Node[]): BackendPanel {
  const backend = segments('backend', 'Backend', { auto: 'Auto', ...BACKENDS }, switched);
  const engine = segments('engine', 'Engine', { auto: 'Any', ...ENGINES }, switched);
  const name = el('strong', { class: 'runs-name' });
  const detail = el('span', { class: 'runs-detail' });
  const summary = el('p', { class: 'runs-on' }, el('span', { class: 'dot', 'aria-hidden': 'true' }), name, detail);
  const question = el('summary', {});
  const list = el('div', { class: 'candidates' });
  const element = el(
    'div',
    { class: 'backend' },
    el('div', {}, summary, ...between),
    el('div', {}, backend.element, engine.element, el('details', { class: 'reasons' }, question, list)),
  );

  let engines: readonly ModelFormat[] = [];
  let rows: readonly Row[] = [];
  const engineChoice = (): ModelFormat | 'auto' =>
    engines.includes(engine.value as ModelFormat) ? engine.value : 'auto';
  const asked = ({ engine, name }: Row): boolean =>
    [engine, 'auto'].includes(engineChoice()) && [name, 'auto'].includes(backend.value);
  const set = (row: Row, state: 'idle' | 'waiting' | 'runs' | 'skipped' | 'failed', text: string): void => {
    row.element.dataset['state'] = state;
    row.says.textContent = text;
  };
  const say = (state: 'waiting' | 'runs' | 'failed', what: string, more: string, ask = 'All backends'): void => {
    summary.dataset['state'] = state;
    name.textContent = what;
    detail.textContent = more;
    question.textContent = ask;
  };

  return {
    element,
    get candidates() {
      if (backend.value === 'auto' && engineChoice() === 'auto') return undefined;
      return rows.filter(asked).map(({ engine, name }) => `${engine}/${name}` as const);
    },
    get where() {
      const by = engineChoice();
      const on = backend.value === 'auto' ? 'on the first backend that works' : `on ${BACKENDS[backend.value]}`;
      return by === 'auto' ? on : `by ${ENGINES[by]} ${on}`;
    },
    get settings() {
      return { backend: backend.value, engine: engine.value };
    },
    restore(settings) {
      backend.select(settings['backend']);
      engine.select(settings['engine']);
    },
    offer(model) {
      engines = model.engines;
      engine.element.hidden = engines.length < 2;
      rows = engines.flatMap((engine) =>
        (Object.keys(BACKENDS) as BackendName[]).map((name) => candidateRow(engine, name)),
      );
      const groups = engines.map((engine) =>
        el(
          'section',
          { 'aria-label': ENGINES[engine] },
          el('h3', {}, ENGINES[engine]),
          el('ul', { class: 'backends' }, ...rows.filter((row) => row.engine === engine).map((row) => row.element)),
        ),
      );
      list.replaceChildren(...groups);
    },
    idle() {
      say('waiting', 'Nothing yet', '');
      for (const row of rows) set(row, 'idle', asked(row) ? 'not tried yet' : 'not selected');
    },
    opening() {
      say('waiting', 'Opening…', '');
      for (const row of rows) set(row, asked(row) ? 'waiting' : 'idle', asked(row) ? 'opening…' : 'not selected');
    },
    runs(running) {
      for (const row of rows) {
        const skipped = running.skipped.find(({ engine, name }) => engine === row.engine && name === row.name);
        if (running.engine === row.engine && running.name === row.name)
          set(row, 'runs', row.name === 'wasm' ? `running on ${threads(running.threads)}` : 'running');
        else if (skipped) set(row, 'skipped', skipped.reason);
        else set(row, 'idle', asked(row) ? 'not needed' : 'not selected');
      }
      const on = displayName(running.name);
      const by = ENGINES[running.engine as ModelFormat];
      say('runs', on, running.name === 'wasm' ? `${by}, ${threads(running.threads)}` : by, whyNot(running));
      return `${on}, ${by}`;
    },
    failed(tried) {
      say('failed', 'Nothing', tried ? 'no selected backend works' : 'the model was not loaded');
      for (const row of rows) {
        if (asked(row)) set(row, tried ? 'failed' : 'idle', tried ? 'could not be opened' : 'not running');
        else set(row, 'idle', 'not selected');
      }
    },
  };
}

function candidateRow(engine: ModelFormat, name: BackendName): Row {
  const says = el('span', { class: 'says' });
  const element = el(
    'li',
    {},
    el('span', { class: 'dot', 'aria-hidden': 'true' }),
    el('span', { class: 'backend-name' }, BACKENDS[name]),
    says,
  );
  return { engine, name, says, element };
}

/** Returns the fold's title: `Why not WebGPU or WebGL?` */
function whyNot({ name, skipped }: Backend): string {
  const others = Object.keys(BACKENDS)
    .filter((other) => other !== name && skipped.some((one) => one.name === other))
    .map((other) => BACKENDS[other as BackendName]);
  return others.length > 0 ? `Why not ${others.join(' or ')}?` : 'All backends';
}

function displayName(name: Backend['name']): string {
  return { ...BACKENDS, ...OTHERS }[name];
}

function threads(count: number): string {
  return `${count} ${count === 1 ? 'thread' : 'threads'}`;
}
