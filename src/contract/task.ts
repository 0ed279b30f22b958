import type { HandlerClass, InputKind } from './handler.js';
import type { HuggingFaceTask } from './hugging-face-task.js';

/**
 * What the inputs and outputs of a task's models look like: by it, a model is recognized whose files name no task.
 * All that is given must fit.
 */
export interface Signature {
  /** Of the tasks that fit, the one with the lowest number is the nearest. */
  readonly order: number;
  /** What the inputs hold. */
  readonly reads: 'images' | 'texts' | 'images-and-texts' | 'sound';
  /** The start of the name of an input. */
  readonly input?: string;
  /** The names of outputs; of a list, the model has one. */
  readonly outputs?: readonly (string | readonly string[])[];
  /** Whether an output has boxes, `[rows, boxes, 4]`. */
  readonly hasBoxes?: boolean;
  /** The output called `logits`, or without one the first output. */
  readonly main?: {
    /** The number of its dims, with that of the batch. */
    readonly rank?: number;
    /** Whether its name says that it has logits. */
    readonly isLogits?: boolean;
    /** Its name, or that of the operator that computes it, in lowercase and without numbers; of a list, one. */
    readonly name?: readonly string[];
    /** Whether it is the model's only output. */
    readonly isOnly?: boolean;
    /** How many channels it has: the size of its second dimension, or in NHWC of the last one. */
    readonly channels?: number;
    /** The sizes of its last dimensions. */
    readonly ends?: readonly number[];
    /** Whether it has a row or a column for each point of YOLO's feature maps, or six numbers for each box. */
    readonly isDetections?: boolean;
    /** The size of its last dimension is known and less than this. */
    readonly lastBelow?: number;
  };
}

/** What is known of a task before its class is loaded: made from the static members of the class. */
export interface TaskDescriptor extends Omit<HuggingFaceTask, 'handlerConfig' | 'filesOf'> {
  /** Loads the class of its handler. */
  readonly load: () => Promise<HandlerClass>;
  readonly takes: InputKind;
  readonly nearest?: readonly Signature[];
  /** The task of Ultralytics' models whose outputs it reads. */
  readonly ultralytics?: string;
}
