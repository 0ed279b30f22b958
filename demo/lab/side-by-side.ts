import { ENGINE_NAMES, MODELS, type LabModel } from './models.js';
import type { CandidateName, EngineName, Probe, TensorInfo, Tensors } from '../../src/index.js';
import { copies } from '../page/copy.js';
import { button, el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { chart, type Row } from './chart.js';
import { CANDIDATES, inspect, measure, RUNS } from './measure.js';
import { openDimensions, type Sizes } from './noise.js';
import { deviation, quantile } from './statistics.js';

export interface SideBySide {
  readonly element: HTMLElement;
  /** Takes the visitor's own model. */
  take(file: File): void;
  refused(error: unknown): void;
  dispose(): void;
}

/** Engine → the inputs of its model. */
type Inputs = Partial<Record<EngineName, readonly TensorInfo[]>>;

/** Measures every candidate on the model that the visitor chooses, one after the other. */
export function sideBySide(probed: (probe: Probe) => void, announce: (text: string) => void): SideBySide {
  let own: LabModel | undefined;
  let model: LabModel = MODELS[0];
  let inputs: Inputs = {};
  let busy = new AbortController();

  // ── What is seen ─────────────────────────────────────────────────────────────────────────────

  const choice = el('select', { id: 'lab-model' });
  const chooser = el('input', {
    type: 'file',
    id: 'lab-chooser',
    accept: '.onnx',
    'aria-label': 'ONNX file',
    tabindex: '-1',
    hidden: '',
  });
  const takes = el('p', { class: 'takes' });
  const sizes = el('div', { class: 'sizes' });
  const go = button('Measure', () => void contest());
  go.classList.add('primary');
  const cancel = button('Cancel', () => busy.abort());
  const status = el('p', { class: 'quiet' });
  const bar = el('progress', { 'aria-label': 'Candidates measured', hidden: '' });
  const drawn = chart();
  const log = el('code');
  const copy = el('button', { type: 'button' }, 'Copy');
  const diagnosis = el(
    'details',
    { hidden: '' },
    el('summary', {}, 'The log of each candidate: diagnose()'),
    copy,
    el('pre', { tabindex: '0', 'aria-label': 'Diagnosis' }, log),
  );
  copies(copy, () => log.textContent);
  const element = el(
    'div',
    { class: 'side-by-side' },
    el(
      'div',
      { class: 'drop' },
      el('label', { for: 'lab-model' }, 'Model'),
      choice,
      button('Choose an .onnx file…', () => chooser.click()),
      chooser,
    ),
    takes,
    sizes,
    el('div', { class: 'actions' }, go, cancel),
    status,
    bar,
    drawn.element,
    diagnosis,
  );
  choice.addEventListener('change', () => {
    model = choice.value === 'own' ? own! : MODELS[Number(choice.value)]!;
    void look();
  });
  chooser.addEventListener('change', () => {
    const file = chooser.files?.[0];
    if (file) take(file);
    chooser.value = '';
  });

  const offer = (): void => {
    const names = [
      ...MODELS.map(({ name }, index) => [String(index), name] as const),
      ...(own ? [['own', own.name] as const] : []),
    ];
    choice.replaceChildren(...names.map(([value, name]) => el('option', { value }, name)));
    choice.value = own && model === own ? 'own' : String(MODELS.indexOf(model));
  };
  const say = (text: string, state: 'quiet' | 'failed' = 'quiet'): void => {
    status.className = state;
    status.textContent = text;
  };
  const working = (at: 'reading' | 'measuring' | undefined): void => {
    go.disabled = at !== undefined || Object.keys(inputs).length === 0;
    cancel.disabled = at !== 'measuring';
    bar.hidden = at === undefined;
  };
  const candidates = (): readonly CandidateName[] =>
    (Object.keys(model.weights) as EngineName[]).flatMap((engine) => CANDIDATES[engine]);

  // ── What a model takes ───────────────────────────────────────────────────────────────────────

  async function look(): Promise<void> {
    busy.abort();
    const { signal } = (busy = new AbortController());
    const { weights } = model;
    const found: Inputs = {};
    inputs = {};
    takes.textContent = '';
    sizes.replaceChildren();
    diagnosis.hidden = true;
    drawn.show(candidates().map((candidate) => ({ candidate, state: 'waiting' })));
    working('reading');
    bar.removeAttribute('value');
    say('Reading the model’s inputs…');
    try {
      for (const engine of Object.keys(weights) as EngineName[]) {
        const inspected = await inspect(weights[engine]!, engine, signal);
        if (signal.aborted) return;
        found[engine] = inspected.inputs;
        if (inspected.probe) probed(inspected.probe);
      }
      inputs = found;
      takes.textContent = (Object.keys(found) as EngineName[])
        .map((engine) => `${ENGINE_NAMES[engine]} inputs: ${found[engine]!.map(inWords).join(', ')}.`)
        .join(' ');
      sizes.replaceChildren(...sizeFields(found, model.sizes));
      say('Ready to measure.');
    } catch (error) {
      if (signal.aborted) return;
      const { code, message } = described(error);
      say(`${code}: ${message}`, 'failed');
      announce(message);
    }
    working(undefined);
  }

  // ── One candidate after the other ────────────────────────────────────────────────────────────

  async function contest(): Promise<void> {
    busy.abort();
    const { signal } = (busy = new AbortController());
    const { weights } = model;
    const chosen = readSizes(sizes);
    const names = candidates();
    const rows: Row[] = names.map((candidate) => ({ candidate, state: 'waiting' }));
    const references: Partial<Record<EngineName, Tensors>> = {};
    const logs: string[] = [];
    const set = (index: number, row: Row): void => {
      rows[index] = row;
      drawn.show(rows);
    };
    working('measuring');
    // A button that is disabled loses the focus.
    cancel.focus();
    bar.max = names.length;
    drawn.show(rows);
    try {
      for (const [index, candidate] of names.entries()) {
        const engine = candidate.split('/')[0] as EngineName;
        bar.value = index;
        set(index, { candidate, state: 'measuring' });
        say(`${candidate}: opening…`);
        const ran = (runs: number): void => say(`${candidate}: run ${runs} of ${RUNS}`);
        const outcome = await measure(candidate, weights[engine]!, inputs[engine]!, chosen, { signal, ran });
        logs.push(`── ${candidate}\n${outcome.diagnosis}`);
        if (!outcome.ok) {
          set(index, { candidate, state: 'failed', reason: outcome.reason });
          continue;
        }
        const { outputs, times } = outcome;
        if (candidate.endsWith('/wasm')) references[engine] = outputs;
        const reference = references[engine];
        set(index, {
          candidate,
          state: 'measured',
          median: quantile(times, 0.5),
          p95: quantile(times, 0.95),
          deviation: reference && deviation(outputs, reference),
        });
      }
      const text = summary(rows);
      say(text);
      announce(text);
    } catch (error) {
      // The visitor chose another model, or left the page.
      if (busy.signal !== signal) return;
      for (const [index, row] of rows.entries())
        if (row.state === 'waiting' || row.state === 'measuring')
          set(index, { candidate: row.candidate, state: 'canceled' });
      say(signal.aborted ? 'Canceled.' : described(error).message, signal.aborted ? 'quiet' : 'failed');
    }
    log.textContent = logs.join('\n\n');
    diagnosis.hidden = logs.length === 0;
    const focused = document.activeElement === cancel;
    working(undefined);
    if (focused) go.focus();
  }

  function take(file: File): void {
    if (!file.name.toLowerCase().endsWith('.onnx')) {
      const text = `${file.name} is not an .onnx file. Choose a model in ONNX format.`;
      say(text, 'failed');
      return announce(text);
    }
    own = { name: `${file.name} (your file)`, weights: { onnx: file } };
    model = own;
    offer();
    void look();
  }

  offer();
  void look();
  return {
    element,
    take,
    refused: (error) => say(described(error).message, 'failed'),
    dispose: () => {
      busy.abort();
      busy = new AbortController();
    },
  };
}

function inWords({ name, dtype, dims }: TensorInfo): string {
  return `${name}, ${dtype} [${dims.map((size) => size ?? '?').join(', ')}]`;
}

function sizeFields(inputs: Inputs, known: Sizes = {}): readonly HTMLElement[] {
  return Object.values(inputs)
    .flatMap(openDimensions)
    .map(({ key, suggested }) => {
      const field = el('input', {
        type: 'number',
        name: key,
        min: '1',
        step: '1',
        value: String(known[key] ?? suggested),
      });
      return el('label', {}, `Size of ${key} `, field);
    });
}

function readSizes(fields: HTMLElement): Sizes {
  return Object.fromEntries(
    [...fields.querySelectorAll('input')].map(({ name, valueAsNumber }) => [
      name,
      valueAsNumber >= 1 ? Math.floor(valueAsNumber) : 1,
    ]),
  );
}

function summary(rows: readonly Row[]): string {
  const measured = rows.filter((row) => row.state === 'measured').sort((a, b) => a.median - b.median);
  const best = measured.find(({ deviation }) => deviation?.wrong === undefined);
  return best
    ? `${best.candidate} is the fastest; ${measured.length} of ${rows.length} candidates run.`
    : 'No candidate runs this model.';
}
