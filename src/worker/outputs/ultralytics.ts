import { TabServeError } from '../../contract/errors.js';
import type { Session } from '../../contract/tensors.js';
import { entriesOf, labelCount, type Labels } from './labels.js';

/** The tasks of Ultralytics' models, and what their outputs hold. */
const TASKS: Readonly<Record<string, string>> = {
  detect: 'boxes',
  classify: 'a probability for each class',
  segment: 'boxes with mask coefficients, and mask prototypes',
  pose: 'boxes with keypoints',
  obb: 'rotated boxes',
};

/** Decoders of boxes that the model leaves to non-maximum suppression. */
const DENSE = new Set(['yolov8', 'yolov5', 'yolox', 'nanodet']);

/**
 * What an ONNX file says of the model in its `metadata_props`, as Ultralytics' exporter writes it: Python's texts of the
 * values.
 * @see https://github.com/ultralytics/ultralytics/blob/main/ultralytics/engine/exporter.py `self.metadata`
 */
export class UltralyticsExport {
  /** The labels by class index; undefined if the file has none. */
  readonly names: Labels | undefined;
  /** How many key points there are, and numbers of each; undefined if the file does not say it. */
  readonly keyPoints: readonly [points: number, numbers: number] | undefined;
  /** Height and width of the images that the model was exported for; undefined if the file does not say it. */
  readonly imageSize: readonly [height: number, width: number] | undefined;
  /** The handler that reads the model; undefined if there is none. */
  readonly handler: string | undefined;
  /** One of `TASKS`; undefined if the file names none of them. */
  readonly #task: string | undefined;
  /** Whether the graph includes the suppression: `end2end` of YOLO26 and YOLOv10, or exported with `nms=True`. */
  readonly #isEndToEnd: boolean;

  /** @param handlers the handlers by the tasks that they read */
  constructor(metadata: NonNullable<Session['metadata']>, handlers: ReadonlyMap<string, string> = new Map()) {
    const read = (key: string): unknown => (Object.hasOwn(metadata, key) ? readPython(metadata[key]!) : undefined);
    this.names = readNames(read('names'));
    this.keyPoints = readShape(read('kpt_shape'));
    this.#task = Object.keys(TASKS).find((task) => task === metadata['task']);
    this.handler = handlers.get(this.#task ?? '');
    this.imageSize = readSize(read('imgsz'));
    const args = read('args') as { readonly nms?: unknown } | null | undefined;
    this.#isEndToEnd = read('end2end') === true || args?.nms === true;
  }

  /** @throws `model-config` if the model is of another task than the handler reads */
  checkTask(handler: string, own?: string): void {
    const task = this.#task;
    if (task === undefined || task === own) return;
    const advice = this.handler
      ? `Use ${this.handler}, or take another model.`
      : 'Take another model, or read its outputs in a handler of your own (docs/handlers.md).';
    const reads = own === undefined ? 'none of Ultralytics’ tasks' : `the task ${own}`;
    throw new TabServeError(
      'model-config',
      `The model's file says that Ultralytics exported it for the task ${task}, whose outputs are ${TASKS[task]}, but ${handler} reads ${reads}. ${advice}`,
    );
  }

  /** Returns the name of the built-in decoder that reads an export of this task; undefined if the model is of another. */
  decoderOf(task: string): string | undefined {
    if (this.#task !== undefined && this.#task !== task) return undefined;
    return this.#isEndToEnd ? 'rows' : this.#task && 'yolov8';
  }

  /**
   * @param decoder the name of a built-in decoder
   * @param task the one that the handler reads
   * @throws `model-config` if the model is of another task, or the decoder does not read this export
   */
  checkDecoder(handler: string, decoder: string, task: string): void {
    // Rows may have columns to ignore, such as keypoints.
    if (decoder === 'rows') return;
    this.checkTask(handler, task);
    const right = this.decoderOf(task);
    if (right === undefined || right === decoder || !DENSE.has(decoder)) return;
    const what = this.#isEndToEnd ? 'one that finds the final boxes itself (end2end or nms)' : `of the task ${task}`;
    throw new TabServeError(
      'model-config',
      `handler.decoder is ${decoder}, but by its file the model is an export of Ultralytics, ${what}. Use decoder: ${right}.`,
    );
  }

  /**
   * Returns a warning if labels are other than the model's own names. A list of texts fits if one of them does.
   * @param given in one of TorchServe's forms
   * @param labels what `parseLabels` has read of it
   * @param source what has the labels
   */
  labelsFault(given: unknown, labels: Labels, source: string): string | undefined {
    const { names } = this;
    if (!names) return undefined;
    const entries = new Map(entriesOf(given).map(([index, entry]) => [index, [entry].flat() as unknown[]]));
    // A mapping with gaps labels some of the classes only.
    const isWhole = labelCount(labels) !== undefined;
    const wrong = Object.keys({ ...names, ...labels }).find((index) => {
      const texts = entries.get(index);
      return texts ? !texts.some((text) => plain(text) === plain(names[index])) : isWhole;
    });
    if (wrong === undefined) return undefined;
    const [label, own] = [labels, names].map(({ [wrong]: name }) =>
      name === undefined ? 'has no label' : `is ${JSON.stringify(name)}`,
    );
    return `${source}: class ${wrong} ${label}, but by the names in the model's file it ${own}. Remove the labels, and those names are used; for labels of your own give both, as in {"0": ["dog", "Hund"]}.`;
  }
}

/** Returns a name without the differences of spelling that exporters make. */
function plain(name: unknown): string | undefined {
  return typeof name === 'string' ? name.toLowerCase().replace(/[\s_-]+/g, ' ') : undefined;
}

function readShape(shape: unknown): readonly [number, number] | undefined {
  const fits =
    Array.isArray(shape) &&
    shape.length === 2 &&
    Number.isInteger(shape[0]) &&
    shape[0] > 0 &&
    (shape[1] === 2 || shape[1] === 3);
  return fits ? (shape as [number, number]) : undefined;
}

function readSize(size: unknown): readonly [number, number] | undefined {
  const sides = typeof size === 'number' ? [size, size] : size;
  const fits = Array.isArray(sides) && sides.length === 2 && sides.every((side) => Number.isInteger(side) && side > 0);
  return fits ? (sides as [number, number]) : undefined;
}

function readNames(names: unknown): Labels | undefined {
  const entries = Object.entries(names ?? {}) as [string, unknown][];
  const fits = entries.length > 0 && entries.every(([index, name]) => /^\d+$/.test(index) && typeof name === 'string');
  return fits ? (Object.fromEntries(entries) as Labels) : undefined;
}

/** What of Python's texts JSON writes in another way: strings, constants, keys that are numbers, tuples. */
const TOKEN = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(?:True|False|None)\b|\d+(?=\s*:)|[()]|,(?=\s*[)\]}])/gs;
const CONSTANTS: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  '(': '[',
  ')': ']',
  ',': '',
};

/** Reads what Python's `repr` writes of numbers, strings, lists, tuples and dicts; undefined for anything else. */
function readPython(text: string): unknown {
  try {
    return JSON.parse(
      text.replace(TOKEN, (token) => CONSTANTS[token] ?? JSON.stringify(/^\d/.test(token) ? token : unquote(token))),
    ) as unknown;
  } catch {
    return undefined;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Returns the text of one of Python's string literals. */
function unquote(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|(.))/gs, (_, x, u, long, other: string) => {
      const code = (x ?? u ?? long) as string | undefined;
      return code === undefined ? (ESCAPES[other] ?? other) : String.fromCodePoint(parseInt(code, 16));
    });
}
