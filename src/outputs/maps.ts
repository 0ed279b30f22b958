import { TabServeError } from '../contract/errors.js';
import type { TensorInfo } from '../contract/tensors.js';

/** A size, or what a model declares in place of one: see `TensorInfo`. */
export type DimSize = TensorInfo['dims'][number];
export type MapLayout = 'NCHW' | 'NHWC';

/** How a model's output lies in memory: `channels` maps of `width` × `height`. */
export interface MapForm<S extends DimSize = number> {
  readonly layout: MapLayout;
  readonly channels: S;
  readonly width: S;
  readonly height: S;
}

/** One image's numbers as a model answers them. */
export interface Maps extends MapForm {
  readonly data: Float32Array;
}

/**
 * Reads dims `[rows, channels, height, width]`, `[rows, height, width, channels]`, or `[rows, height, width]` as one channel.
 * @param layout undefined where nobody has said: then `likely`, unless only the other gives the map the proportions of the model's input
 * @throws `model-config` at dims of another rank
 */
export function mapForm<S extends DimSize>(
  dims: readonly S[],
  {
    layout,
    likely,
    input,
  }: {
    readonly layout: MapLayout | undefined;
    readonly likely: MapLayout;
    readonly input: readonly [width: DimSize, height: DimSize];
  },
): MapForm<S | 1> {
  const [, a, b, c] = dims as readonly [S, S, S, S];
  if (dims.length === 3) return { layout: 'NCHW', channels: 1, height: a, width: b };
  if (dims.length !== 4)
    throw new TabServeError(
      'model-config',
      `handler.outputName: the output's dims [${dims.join(', ')}] are no map of an image, which has 3 or 4.`,
    );
  const forms = {
    NCHW: { layout: 'NCHW', channels: a, height: b, width: c },
    NHWC: { layout: 'NHWC', channels: c, height: a, width: b },
  } as const;
  const other = likely === 'NCHW' ? 'NHWC' : 'NCHW';
  return forms[
    layout ?? (!isProportional(forms[likely], input) && isProportional(forms[other], input) ? other : likely)
  ];
}

/** A map's sides are those of the input divided by a stride, rounded up or down; what is not known counts as fitting. */
function isProportional(
  { width, height }: Pick<MapForm<DimSize>, 'width' | 'height'>,
  [inputWidth, inputHeight]: readonly [DimSize, DimSize],
): boolean {
  if (
    typeof width !== 'number' ||
    typeof height !== 'number' ||
    typeof inputWidth !== 'number' ||
    typeof inputHeight !== 'number'
  )
    return true;
  return Math.abs(width * inputHeight - height * inputWidth) < inputWidth + inputHeight;
}

/** Elements from one channel to the next, and from one pixel to the next. */
export function strides({ layout, channels, width, height }: MapForm): {
  readonly channel: number;
  readonly pixel: number;
} {
  return layout === 'NCHW' ? { channel: width * height, pixel: 1 } : { channel: 1, pixel: channels };
}
