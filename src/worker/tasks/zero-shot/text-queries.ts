/** What a detector that reads texts returns: for each text, a logit and a box of each query. */
import { TabServeError } from '../../../contract/errors.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { toFloats } from '../../tensors/tensors.js';
import { numbersOf } from '../../outputs/rows.js';
import { logistic } from '../../outputs/scores.js';
import { numbersAt, toBox, toPixels } from '../../outputs/boxes/boxes.js';
import type { DetectionDecoder } from '../../outputs/boxes/decoder.js';

/** What the columns of a detector's logits are: the texts, or the tokens of one text. */
export type Columns = 'texts' | 'tokens';

export const LOGITS = 'logits';
export const BOXES = 'pred_boxes';

/** The logits and boxes of one image, by text. */
interface TextQueries {
  /** `[texts, queries]` */
  readonly logits: Float32Array;
  /** `[texts, queries, 4]`: center and size in fractions of the tensor's sides. */
  readonly boxes: Float32Array;
  readonly queries: number;
}

/**
 * Reads the outputs of one run, for one image: `logits`, `[1, queries, columns]`, and `pred_boxes`, `[1, queries, 4]`.
 * @param texts how many texts the model has read; one if the columns are tokens, of which the best one counts
 * @throws `model-config` if the outputs are not these
 */
export function readTextQueries(outputs: Tensors, columns: Columns, texts: number): TextQueries {
  const [logits, boxes] = [numbersOf(outputs, LOGITS), numbersOf(outputs, BOXES)];
  const [rows, queries = 0, width = 0] = logits.dims;
  const isRight = rows === 1 && logits.dims.length === 3 && boxes.data.length === queries * 4;
  if (!isRight || (columns === 'texts' ? width !== texts : width === 0))
    throw new TabServeError(
      'model-config',
      `For ${texts} texts, the model's "${LOGITS}" has the dims [${logits.dims.join(', ')}] and "${BOXES}" [${boxes.dims.join(', ')}]; expected [1, queries, ${columns}] and [1, queries, 4]. Set handler.columns to what the model has, or export it with a number of texts of any size.`,
    );
  const values = toFloats(logits);
  const found = new Float32Array(texts * queries).fill(-Infinity);
  for (let query = 0; query < queries; query++)
    for (let column = 0; column < width; column++) {
      const at = (columns === 'texts' ? column * queries : 0) + query;
      const value = values[query * width + column]!;
      // A logit that is no number makes a score that is none.
      if (!(value <= found[at]!)) found[at] = value;
    }
  const own = toFloats(boxes);
  const all = new Float32Array(texts * queries * 4);
  for (let text = 0; text < texts; text++) all.set(own, text * queries * 4);
  return { logits: found, boxes: all, queries };
}

/** Joins the logits and boxes of texts to tensors, `[1, texts, queries]` and `[1, texts, queries, 4]`. */
export function joinTextQueries(parts: readonly TextQueries[]): { readonly logits: Tensor; readonly boxes: Tensor } {
  const { queries } = parts[0]!;
  const logits = Float32Array.from(parts.flatMap((part) => [...part.logits]));
  const boxes = Float32Array.from(parts.flatMap((part) => [...part.boxes]));
  const texts = logits.length / queries;
  return {
    logits: { dtype: 'float32', dims: [1, texts, queries], data: logits },
    boxes: { dtype: 'float32', dims: [1, texts, queries, 4], data: boxes },
  };
}

/** Decodes logits `[texts, queries]` and boxes `[texts, queries, 4]` of one image: each text is a class. */
export const textQueryDecoder: DetectionDecoder = {
  outputs: [LOGITS, BOXES],
  isBatched: true,
  classes: undefined,
  iouThreshold: 1,
  decode([logits, boxes], size) {
    const queries = logits!.dims[1]!;
    return {
      scores: Float64Array.from(logits!.data, logistic),
      classes: Int32Array.from(logits!.data, (_, at) => Math.floor(at / queries)),
      box: (at) => toPixels(toBox('cxcywh', ...numbersAt(boxes!.data, at * 4)), 'fraction', size),
    };
  },
};
