import type { OneOf } from '../../../shared/one-of.js';
import type { OutputInfo } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import {
  makeAnchors,
  MAX_RATIO,
  MAX_SCALE,
  MIN_RATIO,
  MIN_SCALE,
  parseAnchors,
  type AnchorOptions,
  type Anchors,
  type AnchorGrid,
  type Positive,
} from './anchors.js';
import { numbersAt, toBox } from './boxes.js';
import {
  checkColumns,
  isBatch,
  isTable,
  join,
  mismatchError,
  withBatchAxis,
  type Format,
  type Size,
} from './decoder.js';
import { bestProbabilities, type Activation, type Background } from './proposals.js';
import { findOutputs, type Role } from './roles.js';

/** Returns the roles of the outputs. The rows of BlazeFace's boxes also hold key points. */
const rolesOf = (hasKeyPoints: boolean): readonly Role[] => [
  {
    name: 'boxes',
    usualNames: ['boxes', 'bbox_regression', 'regressors', 'raw_detection_boxes'],
    dims: '[batch, anchors, 4]',
    fits: ({ dims }) =>
      isTable({ dims }) &&
      (typeof dims.at(-1) !== 'number' || dims.at(-1) === 4 || (hasKeyPoints && Number(dims.at(-1)) > 4)),
  },
  {
    name: 'scores',
    usualNames: ['scores', 'cls_logits', 'classificators', 'raw_detection_scores'],
    dims: '[batch, anchors, classes]',
    fits: isTable,
  },
];

const CODINGS = ['xywh', 'yxhw', 'pixels'] as const;
/** How the four numbers of a box relate to its anchor. */
type Coding = (typeof CODINGS)[number];

/**
 * Names of outputs.
 * @minItems 1
 */
type OutputList = readonly string[];

export interface SsdOptions {
  /** How to create the anchors: one generator with its options, or a file with the anchors. */
  readonly anchors?: OneOf<AnchorOptions>;
  /** The names of the outputs, if the decoder cannot recognize them by name or dims. */
  readonly outputs?: {
    /**
     * The name of the output with the dims [batch, anchors, 4], or a list of outputs to concatenate along their
     * boxes.
     */
    readonly boxes?: string | OutputList;
    /**
     * The name of the output with the dims [batch, anchors, classes], or a list of outputs to concatenate along
     * their boxes.
     */
    readonly scores?: string | OutputList;
  };
  /**
   * How logits become probabilities: softmax (default for torchvision and file), sigmoid (default for tensorflow
   * and blazeface), or none if they are probabilities already.
   */
  readonly activation?: Activation;
  /**
   * Which class is the background: first (default for torchvision, tensorflow and file), last, or none (default
   * for blazeface).
   */
  readonly background?: Background;
  /**
   * How four numbers describe a box: center and size in units of its anchor and the variances (xywh, default for
   * torchvision and file), the same with y first (yxhw, default for tensorflow), or offset and size in pixels of
   * the input (pixels, default for blazeface).
   */
  readonly coding?: Coding;
  /** The variances of x, y, width and height. Default [0.1, 0.1, 0.2, 0.2]. */
  readonly variances?: readonly [x: Positive, y: Positive, width: Positive, height: Positive];
}

/** The default options for each generator of anchors. */
const GENERATOR_DEFAULTS: Readonly<
  Record<keyof AnchorOptions, Required<Pick<SsdOptions, 'activation' | 'background' | 'coding'>>>
> = {
  torchvision: { activation: 'softmax', background: 'first', coding: 'xywh' },
  tensorflow: { activation: 'sigmoid', background: 'first', coding: 'yxhw' },
  blazeface: { activation: 'sigmoid', background: 'none', coding: 'pixels' },
  file: { activation: 'softmax', background: 'first', coding: 'xywh' },
};

/** torchvision's limit for the logarithm of a box's size: the box is at most 62.5 times its anchor. */
const MAX_LOG_SIZE = Math.log(1000 / 16);

/**
 * SSD's raw heads: class logits and box regressions for each anchor. With the anchor's center c and size s, and the
 * variances v: center = c + xy · v · s, size = s · exp(wh · v). BlazeFace has center = c + xy / input, and
 * size = wh / input.
 */
export const ssd: Format<SsdOptions> = {
  iouThreshold: 0.45,
  async create({ anchors: given, outputs = {}, variances = [0.1, 0.1, 0.2, 0.2], ...options }, model) {
    const anchorOptions: AnchorOptions | undefined = given;
    const generator = anchorOptions && (Object.keys(anchorOptions)[0] as keyof AnchorOptions);
    if (!generator || !Object.hasOwn(GENERATOR_DEFAULTS, generator))
      throw new TabServeError(
        'model-config',
        `handler.decoder.ssd.anchors must be one of ${Object.keys(GENERATOR_DEFAULTS).join(', ')}.`,
      );
    checkLevels(anchorOptions);
    checkRanges(anchorOptions);
    const { activation, background, coding } = { ...GENERATOR_DEFAULTS[generator], ...options };
    const [boxOutputs, scoreOutputs] = findOutputs('ssd', rolesOf(coding === 'pixels'), outputs, model) as [
      OutputInfo[],
      OutputInfo[],
    ];
    const found = [...boxOutputs, ...scoreOutputs];
    const fromFile =
      anchorOptions.file === undefined
        ? undefined
        : parseAnchors(await model.json(anchorOptions.file), anchorOptions.file);
    const anchorsOf = cacheLast((size: Size): Anchors => fromFile ?? makeAnchors(anchorOptions, size));
    const countMismatch = (anchors: Anchors, given: readonly Pick<OutputInfo, 'name' | 'dims'>[]) =>
      mismatchError('ssd', `boxes and scores of the ${anchors.length / 4} anchors that are configured`, given);

    const columns = scoreOutputs[0]!.dims.at(-1);
    checkColumns('ssd', columns, background, found);
    // The number of anchors does not depend on the size.
    const anchors = anchorsOf(model.size ?? { width: 1, height: 1 });
    for (const role of [boxOutputs, scoreOutputs]) {
      const counts = role.map(({ dims }) => dims.at(-2));
      if (
        counts.every((count) => typeof count === 'number') &&
        counts.reduce((sum, count) => sum + count, 0) !== anchors.length / 4
      )
        throw countMismatch(anchors, found);
    }
    return {
      outputs: found.map(({ name }) => name),
      isBatched: isBatch(found[0]!),
      classes: typeof columns === 'number' ? columns - (background === 'last' ? 1 : 0) : undefined,
      decode(views, size) {
        const anchors = anchorsOf(size);
        const [boxes, scores] = [join(views.slice(0, boxOutputs.length)), join(views.slice(boxOutputs.length))];
        const [count, stride] = boxes.dims as readonly [number, number];
        const classes = scores.dims[1]!;
        if (count !== anchors.length / 4 || scores.dims[0] !== count || stride < 4)
          throw countMismatch(anchors, withBatchAxis(found, views));
        checkColumns('ssd', classes, background, withBatchAxis(found, views));
        return {
          ...bestProbabilities(
            scores.data,
            { count, classes, offset: 0, boxStride: classes, classStride: 1 },
            activation,
            background,
          ),
          box(index) {
            const [cx, cy, width, height] = numbersAt(anchors, index * 4);
            const [a, b, c, d] = numbersAt(boxes.data, index * stride);
            if (coding === 'pixels') return toBox('cxcywh', cx * size.width + a, cy * size.height + b, c, d);
            const [x, y, w, h] = coding === 'xywh' ? [a, b, c, d] : [b, a, d, c];
            const side = (log: number, anchor: number, pixels: number): number =>
              Math.exp(Math.min(log, MAX_LOG_SIZE)) * anchor * pixels;
            return toBox(
              'cxcywh',
              (cx + x * variances[0] * width) * size.width,
              (cy + y * variances[1] * height) * size.height,
              side(w * variances[2], width, size.width),
              side(h * variances[3], height, size.height),
            );
          },
        };
      },
    };
  },
};

/** Checks that the lists with an item for each feature map have the right length. @throws `model-config` */
function checkLevels({ torchvision, blazeface }: AnchorOptions): void {
  const check = (key: string, list: readonly unknown[] | undefined, grids: readonly AnchorGrid[], more = 0): void => {
    if (list && list.length !== grids.length + more)
      throw new TabServeError(
        'model-config',
        `handler.decoder.ssd.anchors.${key} must have ${grids.length + more} items for ${grids.length} grids, not ${list.length}.`,
      );
  };
  if (torchvision) {
    check('torchvision.aspectRatios', torchvision.aspectRatios, torchvision.grids);
    check('torchvision.scales', torchvision.scales, torchvision.grids, 1);
    check('torchvision.steps', torchvision.steps, torchvision.grids);
  }
  if (blazeface) check('blazeface.perCell', blazeface.perCell, blazeface.grids);
}

/** Checks that the scales grow from the first feature map to the last. @throws `model-config` */
function checkRanges({ torchvision, tensorflow }: AnchorOptions): void {
  const check = (minKey: string, maxKey: string, min: number, max: number): void => {
    if (min >= max)
      throw new TabServeError(
        'model-config',
        `handler.decoder.ssd.anchors.${minKey} must be less than ${maxKey}, not ${min} for ${max}.`,
      );
  };
  if (torchvision && !torchvision.scales)
    check('torchvision.minRatio', 'maxRatio', torchvision.minRatio ?? MIN_RATIO, torchvision.maxRatio ?? MAX_RATIO);
  if (tensorflow)
    check('tensorflow.minScale', 'maxScale', tensorflow.minScale ?? MIN_SCALE, tensorflow.maxScale ?? MAX_SCALE);
}

/** Caches the anchors of the last size, because the size seldom changes. */
function cacheLast(make: (size: Size) => Anchors): (size: Size) => Anchors {
  let last: { readonly key: string; readonly anchors: Anchors } | undefined;
  return (size) => {
    const key = `${size.width} ${size.height}`;
    if (last?.key !== key) last = { key, anchors: make(size) };
    return last.anchors;
  };
}
