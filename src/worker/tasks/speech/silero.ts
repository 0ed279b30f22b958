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
const WINDOWS_OF_SECOND = Math.round(RATE / WINDOW);

/** What the model has heard of a row so far. */
export interface Voice {
  /** The last 64 samples. */
  readonly context: Float32Array;
  /** The recurrent state. */
  readonly state: Float32Array;
}

/** A row of a batch. */
export interface VoiceRow {
  /** Returns its samples from `start` to `end`, fewer where it ends. */
  readonly read: (start: number, end: number) => Promise<Float32Array>;
  /** Undefined at the start. */
  readonly voice: Voice | undefined;
  /** Called after windows of a second. @param windows how many have been heard */
  readonly onSecond: (windows: number) => Promise<void>;
}

/** What the model has heard in a row. */
export interface HeardVoice {
  /** One for each window, the last of which may be shorter. */
  readonly probabilities: Float32Array;
  /** How many samples it has. */
  readonly samples: number;
  /** Undefined if there are none. */
  readonly voice: Voice | undefined;
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

/** Runs the model on the windows of all rows: the first windows together, then the second ones, and so on. */
export async function runWindows(
  session: Session,
  rows: readonly VoiceRow[],
  context: Context,
): Promise<readonly HeardVoice[]> {
  const { signal } = context;
  const all = rows.map((row) => new Hearing(row));
  for (let window = 0, running = all; ; window++) {
    if (signal.aborted)
      throw new TabServeError('aborted', 'The request was aborted.', { cause: signal.reason as unknown });
    await Promise.all(running.map((one) => one.read(window)));
    running = running.filter(({ window: { length } }) => length > 0);
    const count = running.length;
    if (count === 0) return all;
    context.heartbeat();
    const input = new Float32Array(count * (CONTEXT + WINDOW));
    const state = new Float32Array(count * STATE);
    for (const [at, one] of running.entries()) {
      const start = at * (CONTEXT + WINDOW);
      input.set(one.context, start);
      input.set(one.window, start + CONTEXT);
      // The state's rows are on its second axis.
      for (const layer of [0, 1])
        state.set(one.state.subarray(layer * HALF, (layer + 1) * HALF), (layer * count + at) * HALF);
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
    for (const [at, one] of running.entries()) {
      for (const layer of [0, 1])
        one.state.set(next.subarray((layer * count + at) * HALF, (layer * count + at + 1) * HALF), layer * HALF);
      one.add(heard[at]!);
    }
    if ((window + 1) % WINDOWS_OF_SECOND === 0) for (const { row } of running) await row.onSecond(window + 1);
  }
}

/** A row while it is heard. */
class Hearing implements HeardVoice {
  readonly row: VoiceRow;
  readonly state: Float32Array;
  readonly #probabilities: number[] = [];
  /** The 64 samples before the window: the end of the window before it, or what an earlier request has heard. */
  context: Float32Array;
  window: Float32Array = new Float32Array(0);
  samples = 0;

  constructor(row: VoiceRow) {
    this.row = row;
    this.state = row.voice?.state.slice() ?? new Float32Array(STATE);
    this.context = row.voice?.context ?? new Float32Array(CONTEXT);
  }

  get probabilities(): Float32Array {
    return Float32Array.from(this.#probabilities);
  }

  get voice(): Voice | undefined {
    return this.samples === 0 ? undefined : { context: this.context, state: this.state };
  }

  async read(window: number): Promise<void> {
    this.window = await this.row.read(window * WINDOW, (window + 1) * WINDOW);
  }

  /** Adds what the model has heard in the window. */
  add(probability: number): void {
    this.#probabilities.push(probability);
    this.samples += this.window.length;
    this.context = this.window.slice(WINDOW - CONTEXT);
  }
}

function wrongOutputs({ output, stateN }: Tensors, rows: number): TabServeError {
  return new TabServeError(
    'model-config',
    `voice_activity_detector needs the outputs "output" [${rows}, 1] and "stateN" [2, ${rows}, ${HALF}], but their dims are [${output!.dims.join(', ')}] and [${stateN!.dims.join(', ')}].`,
  );
}
