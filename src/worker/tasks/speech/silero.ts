/**
 * Silero VAD 5 and 6: a recurrent model that hears windows of 512 samples at 16 kHz, each after the last 64 samples of
 * the window before it, as in silero-vad's `OnnxWrapper`.
 */
import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { Session, Tensors } from '../../../contract/tensors.js';
import { numbersOf } from '../../outputs/rows.js';
import { toFloats } from '../../tensors/tensors.js';

/** Samples of a window, and of what the model hears again of the one before. */
export const WINDOW = 512;
export const CONTEXT = 64;
/** Samples per second. */
export const RATE = 16_000;
/** Numbers of the recurrent state of a row, `[2, 1, 128]`. */
export const STATE = 256;

const HALF = STATE / 2;

/** What the model has heard of a row so far. */
export interface Voice {
  /** The last 64 samples. */
  readonly context: Float32Array;
  /** The recurrent state. */
  readonly state: Float32Array;
}

/** A row of a batch. */
export interface VoiceRow {
  /** The last window may be shorter. */
  readonly samples: Float32Array;
  /** Undefined at the start. */
  readonly voice: Voice | undefined;
  /** Called at the end, unless there are no samples. */
  readonly onVoice: (voice: Voice) => void;
}

/** @throws `model-config` unless the model has the inputs and outputs of Silero VAD 5 */
export function checkSilero({ inputs, outputs }: Session): void {
  const [has, gives] = [inputs, outputs].map((infos) => infos.map(({ name }) => name));
  const fits = ['input', 'state', 'sr'].every((name) => has!.includes(name)) && has!.length === 3;
  if (fits && ['output', 'stateN'].every((name) => gives!.includes(name))) return;
  throw new TabServeError(
    'model-config',
    `voice_activity_detector runs Silero VAD 5 and 6, with the inputs "input", "state" and "sr" and the outputs "output" and "stateN". This model has ${has!.join(', ')} and ${gives!.join(', ')}. Write a handler of your own for another model.`,
  );
}

/**
 * Runs the model on the windows of all rows: the first windows together, then the second ones, and so on.
 * @returns one probability for each window of each row
 */
export async function runWindows(
  session: Session,
  rows: readonly VoiceRow[],
  context: Context,
): Promise<readonly Float32Array[]> {
  const results = rows.map(({ samples }) => new Float32Array(Math.ceil(samples.length / WINDOW)));
  const states = rows.map(({ voice }) => voice?.state.slice() ?? new Float32Array(STATE));
  const most = Math.max(...results.map(({ length }) => length));
  const { signal } = context;
  for (let window = 0; window < most; window++) {
    if (signal.aborted)
      throw new TabServeError('aborted', 'The request was aborted.', { cause: signal.reason as unknown });
    context.heartbeat();
    const running = rows.flatMap((row, index) => (window < results[index]!.length ? [{ row, index }] : []));
    const count = running.length;
    const input = new Float32Array(count * (CONTEXT + WINDOW));
    const state = new Float32Array(count * STATE);
    for (const [at, { row, index }] of running.entries()) {
      const start = at * (CONTEXT + WINDOW);
      input.set(heardBefore(row, window), start);
      input.set(row.samples.subarray(window * WINDOW, (window + 1) * WINDOW), start + CONTEXT);
      // The state's rows are on its second axis.
      for (const layer of [0, 1])
        state.set(states[index]!.subarray(layer * HALF, (layer + 1) * HALF), (layer * count + at) * HALF);
    }
    const outputs = await session.run({
      input: { dtype: 'float32', dims: [count, CONTEXT + WINDOW], data: input },
      state: { dtype: 'float32', dims: [2, count, HALF], data: state },
      sr: { dtype: 'int64', dims: [], data: BigInt64Array.of(BigInt(RATE)) },
    });
    const [heard, next] = ['output', 'stateN'].map((name) => toFloats(numbersOf(outputs, name))) as [
      Float32Array,
      Float32Array,
    ];
    if (heard.length !== count || next.length !== count * STATE) throw wrongOutputs(outputs, count);
    for (const [at, { index }] of running.entries()) {
      results[index]![window] = heard[at]!;
      for (const layer of [0, 1])
        states[index]!.set(next.subarray((layer * count + at) * HALF, (layer * count + at + 1) * HALF), layer * HALF);
    }
  }
  for (const [index, row] of rows.entries())
    if (results[index]!.length > 0)
      row.onVoice({ context: heardBefore(row, results[index]!.length).slice(), state: states[index]! });
  return results;
}

function wrongOutputs({ output, stateN }: Tensors, rows: number): TabServeError {
  return new TabServeError(
    'model-config',
    `voice_activity_detector needs the outputs "output" [${rows}, 1] and "stateN" [2, ${rows}, ${HALF}], but their dims are [${output!.dims.join(', ')}] and [${stateN!.dims.join(', ')}].`,
  );
}

/** Returns the 64 samples before a window: the end of the window before it, or what an earlier request has heard. */
function heardBefore({ samples, voice }: VoiceRow, window: number): Float32Array {
  if (window === 0) return voice?.context ?? new Float32Array(CONTEXT);
  return samples.subarray(window * WINDOW - CONTEXT, window * WINDOW);
}
