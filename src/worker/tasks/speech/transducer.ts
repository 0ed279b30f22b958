/**
 * Greedy decoding of a transducer (Graves 2012), and of TDT, which predicts tokens and their durations (Xu et al. 2023),
 * with NeMo's decoder and joint network in one graph.
 */
import { zeroData } from '../../../contract/dtypes.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { Session, Tensor, Tensors } from '../../../contract/tensors.js';
import { nextTask } from '../../../shared/next-task.js';
import { numbersOf } from '../../outputs/rows.js';
import { integers, toFloats } from '../../tensors/tensors.js';
import { likeliest } from './frame-classes.js';
import type { Heard } from './recognizer.js';

export interface TransducerOptions {
  /** The class that is no token. */
  readonly blank: number;
  /** How many classes there are, with the blank. */
  readonly classes: number;
  /** Whether durations follow the classes in the output. */
  readonly hasDurations: boolean;
  /** The most tokens of one frame. */
  readonly mostTokens: number;
}

/** The inputs and outputs of the graph. */
const FRAME = 'encoder_outputs';
const [TARGETS, TARGET_LENGTH] = ['targets', 'target_length'];
const STATES = [
  ['input_states_1', 'output_states_1'],
  ['input_states_2', 'output_states_2'],
] as const;
const OUTPUTS = 'outputs';
/** Steps between two chances for other work. */
const STEPS_AT_ONCE = 32;

/** @throws `model-config` if the graph is another one */
export function openTransducer(
  joint: Session,
  { blank, classes, hasDurations, mostTokens }: TransducerOptions,
): (encoded: Tensor, count: number, context: Context) => Promise<readonly Heard[]> {
  checkGraph(joint, classes, hasDurations);
  const dtypeOf = (name: string): Tensor['dtype'] => joint.inputs.find((one) => one.name === name)!.dtype;

  return async (encoded, count, { signal, heartbeat }) => {
    const [, width, frames] = encoded.dims as readonly [number, number, number];
    if (encoded.dims.length !== 3 || !(count >= 0))
      throw new TabServeError(
        'inference-failed',
        `The encoder has returned [${encoded.dims.join(', ')}] and the length ${count}; expected [rows, width, frames] and a number of frames.`,
      );
    const sound = toFloats(encoded);
    const heard: Heard[] = [];
    let states = emptyStates(joint);
    let [last, inFrame] = [blank, 0];
    for (let frame = 0, step = 1; frame < Math.min(count, frames); step++) {
      const data = Float32Array.from({ length: width }, (_, at) => sound[at * frames + frame]!);
      const outputs = await joint.run(
        {
          [FRAME]: { dtype: 'float32', dims: [1, width, 1], data },
          [TARGETS]: integers(dtypeOf(TARGETS), [1, 1], [last]),
          [TARGET_LENGTH]: integers(dtypeOf(TARGET_LENGTH), [1], [1]),
          ...states,
        },
        { signal },
      );
      const scores = toFloats(numbersOf(outputs, OUTPUTS));
      const id = likeliest(scores.subarray(0, classes), frame);
      const duration = hasDurations ? likeliest(scores.subarray(classes), frame) : 0;
      if (id !== blank) {
        // A token lasts one frame at least.
        heard.push({ id, start: frame, end: frame + Math.max(1, duration) });
        states = Object.fromEntries(STATES.map(([input, output]) => [input, outputs[output]!]));
        last = id;
        inFrame++;
      }
      const moves = duration > 0 ? duration : id === blank || inFrame === mostTokens ? 1 : 0;
      frame += moves;
      if (moves > 0) inFrame = 0;
      heartbeat();
      if (step % STEPS_AT_ONCE === 0) await nextTask();
    }
    return heard;
  };
}

/** Returns the inputs of one step. */
export function transducerExample(joint: Session): Tensors {
  const zeros = ({ name, dtype, dims }: Session['inputs'][number]): readonly [string, Tensor] => {
    const sizes = dims.map((size) => (typeof size === 'number' ? size : 1));
    const data = zeroData(
      dtype,
      sizes.reduce((product, size) => product * size, 1),
    );
    return [name, { dtype, dims: sizes, data }];
  };
  return {
    ...Object.fromEntries(joint.inputs.map(zeros)),
    [TARGET_LENGTH]: integers(joint.inputs.find(({ name }) => name === TARGET_LENGTH)!.dtype, [1], [1]),
  };
}

/** Returns the states before the first token. */
function emptyStates(joint: Session): Tensors {
  const example = transducerExample(joint);
  return Object.fromEntries(STATES.map(([input]) => [input, example[input]!]));
}

/** @throws `model-config` */
function checkGraph({ inputs, outputs }: Session, classes: number, hasDurations: boolean): void {
  const names = (infos: readonly { readonly name: string }[]): readonly string[] => infos.map(({ name }) => name);
  const needed = [FRAME, TARGETS, TARGET_LENGTH, ...STATES.map(([input]) => input)];
  const missing = [
    ...needed.filter((name) => !names(inputs).includes(name)),
    ...[OUTPUTS, ...STATES.map(([, output]) => output)].filter((name) => !names(outputs).includes(name)),
  ];
  if (missing.length > 0 || inputs.length > needed.length)
    throw new TabServeError(
      'model-config',
      `speech_recognizer runs the decoder and joint network of NeMo's transducers; this model lacks ${missing.join(', ') || 'none of its inputs and outputs, and has others'}: its inputs are ${names(inputs).join(', ')}, its outputs ${names(outputs).join(', ')}.`,
    );
  const scores = outputs.find(({ name }) => name === OUTPUTS)!.dims.at(-1);
  if (typeof scores !== 'number' || (hasDurations ? scores > classes : scores === classes)) return;
  throw new TabServeError(
    'model-config',
    `The output "${OUTPUTS}" of the decoder has ${scores} numbers, and vocab.txt has ${classes} classes: ${hasDurations ? 'TDT has the durations after them' : 'they are of two models, or model_type is not nemo-conformer-rnnt'}.`,
  );
}
