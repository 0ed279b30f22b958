import { TabServeError } from '../../contract/errors.js';
import type { TensorInfo } from '../../contract/tensors.js';

/** A size, or the name or null that a model declares for a dynamic size: see `TensorInfo`. */
export type DimSize = TensorInfo['dims'][number];
export type MapLayout = 'NCHW' | 'NHWC';

/** The memory layout of a model's output: `channels` maps of `width` × `height`. */
export interface MapForm<S extends DimSize = number> {
  readonly layout: MapLayout;
  readonly channels: S;
  readonly width: S;
  readonly height: S;
}

/** The numbers of a model's output for one image. */
export interface Maps extends MapForm {
  readonly data: Float32Array;
}

/**
 * Interprets dims as `[rows, channels, height, width]`, `[rows, height, width, channels]`, or `[rows, height, width]`
 * with one channel.
 * @param layout the configured layout. If it is undefined, the layout is `likely`, unless only the other layout gives
 *   the map the proportions of the model's input.
 * @throws `model-config` if the dims have another rank
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
      `handler.outputName: a segmentation needs an output with 3 or 4 dims, but the output's dims are [${dims.join(', ')}]. Name another output.`,
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

/**
 * Returns whether a map has the proportions of the input: each side is the input's side divided by a stride, rounded up
 * or down. An unknown size counts as proportional.
 */
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

/** Returns the number of elements from one channel to the next, and from one pixel to the next. */
export function strides({ layout, channels, width, height }: MapForm): {
  readonly channel: number;
  readonly pixel: number;
} {
  return layout === 'NCHW' ? { channel: width * height, pixel: 1 } : { channel: 1, pixel: channels };
}
