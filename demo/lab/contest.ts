import type { CandidateName, ModelFormat, Probe, TensorInfo, Tensors } from '../../src/index.js';
import { isRun, type Row } from './card.js';
import { CANDIDATES, measure, RUNS } from './measure.js';
import type { LabModel } from './models.js';
import type { Sizes } from './noise.js';
import { deviation, quantile } from './statistics.js';

/** What is known of a model before it is opened. */
export interface Known {
  /** The inputs of the ONNX file. */
  readonly inputs: readonly TensorInfo[];
  /** Whether it has weights in float16. */
  readonly half: boolean;
  readonly sizes: Sizes;
}

export interface Watcher {
  readonly signal: AbortSignal;
  changed(rows: readonly Row[]): void;
  /** Gets what happens, in words. */
  says(text: string): void;
  probed(probe: Probe): void;
  /** Gets the log of a candidate's client. */
  logged(candidate: CandidateName, diagnosis: string): void;
}

/** Returns the candidates of a model's formats. */
export function candidatesOf({ weights }: LabModel): readonly CandidateName[] {
  return (Object.keys(weights) as ModelFormat[]).flatMap((engine) => CANDIDATES[engine]);
}

/** Measures every candidate on a model, one after the other. @throws when aborted */
export async function contest(model: LabModel, known: Known, watch: Watcher): Promise<readonly Row[]> {
  const names = candidatesOf(model);
  const rows: Row[] = names.map((candidate) => ({ candidate, state: 'waiting' }));
  const references: Partial<Record<ModelFormat, Tensors>> = {};
  const set = (index: number, row: Row): void => {
    rows[index] = row;
    watch.changed([...rows]);
  };
  try {
    for (const [index, candidate] of names.entries()) {
      const engine = candidate.split('/')[0] as ModelFormat;
      const at = `${index + 1} of ${names.length}: ${candidate}`;
      set(index, { candidate, state: 'measuring' });
      watch.says(`${at}, opening…`);
      const inputs = engine === 'onnx' ? known.inputs : [];
      const subject = { weights: model.weights[engine]!, inputs, sizes: known.sizes };
      const ran = (runs: number): void => watch.says(`${at}, run ${runs} of ${RUNS}`);
      const outcome = await measure(candidate, subject, { signal: watch.signal, ran });
      watch.logged(candidate, outcome.diagnosis);
      if (outcome.probe) watch.probed(outcome.probe);
      if (!outcome.ok) {
        set(index, { candidate, state: 'skipped', reason: outcome.reason });
        continue;
      }
      const { outputs, times } = outcome;
      const isReference = candidate.endsWith('/wasm');
      if (isReference) references[engine] = outputs;
      const reference = references[engine];
      const compared = reference ? deviation(outputs, reference, known.half) : { error: 0, scale: 0, wrong: '' };
      set(index, {
        candidate,
        state: 'measured',
        median: quantile(times, 0.5),
        low: quantile(times, 0.05),
        high: quantile(times, 0.95),
        proof: isReference ? 'reference' : !reference ? 'none' : compared.wrong ? 'wrong' : 'right',
        ...compared,
      });
    }
  } catch (error) {
    for (const [index, row] of rows.entries())
      if (!isRun(row)) set(index, { candidate: row.candidate, state: 'canceled' });
    throw error;
  }
  return rows;
}
