/** The pipelines whose results are pictures: segments with their masks, and images. */
import { perInput, type Call, type Read } from './call.js';
import type { ImageSegment, PipelineImage } from './calls.js';
import { fileOf, knownOptions, listOf } from './inputs.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** What `background_remover` and `image_to_image` answer: RGBA. */
interface Picture extends Size {
  readonly data: Uint8ClampedArray;
}

/** One of those that `instance_segmenter` answers. */
interface Instance {
  readonly label: string;
  readonly score: number;
  readonly mask: Size & { readonly runs: Uint32Array };
}

/** What `image_segmenter` answers. */
interface ClassMap extends Size {
  readonly labels: readonly string[];
  readonly classes: ArrayLike<number> & Iterable<number>;
}

/** The options of transformers.js that say which segments are found, with its defaults. */
interface SegmentOptions {
  readonly threshold?: number;
  readonly mask_threshold?: number;
  readonly overlap_mask_area_threshold?: number;
}

/** Returns how the calls of \`image-segmentation\` are read for a handler. */
export function readSegments(handler: string): Read {
  return async function read(input: unknown, options?: SegmentOptions) {
    const isOfInstances = handler === 'instance_segmenter';
    const known = isOfInstances ? (['threshold', 'mask_threshold', 'overlap_mask_area_threshold'] as const) : [];
    const {
      threshold: scoreThreshold = 0.5,
      mask_threshold: maskThreshold = 0.5,
      overlap_mask_area_threshold: overlapThreshold = 0.8,
    } = knownOptions(options, known);
    const { inputs, isList } = listOf(input);
    return {
      rows: await Promise.all(inputs.map(fileOf)),
      params: isOfInstances ? { scoreThreshold, maskThreshold, overlapThreshold } : PARAMS[handler]!,
      write: perInput(isList, WRITERS[handler]!),
    };
  };
}

/** Whatever the model's config says. */
const PARAMS: Readonly<Record<string, Call['params']>> = {
  image_segmenter: { result: 'classes', size: 'original' },
  background_remover: {},
};

const WRITERS: Readonly<Record<string, (result: never) => readonly ImageSegment[]>> = {
  instance_segmenter: (instances: readonly Instance[]) =>
    instances.map(({ label, score, mask: { width, height, runs } }) => {
      const mask = grayImage(width, height);
      for (let at = 0; at < runs.length; at += 2) mask.data.fill(255, runs[at]!, runs[at]! + runs[at + 1]!);
      return { label, score, mask };
    }),
  image_segmenter: ({ width, height, classes, labels }: ClassMap) =>
    [...new Set(classes)]
      .toSorted((a, b) => a - b)
      .map((index) => {
        const mask = grayImage(width, height);
        for (let at = 0; at < classes.length; at++) if (classes[at] === index) mask.data[at] = 255;
        return { label: labels[index]!, score: null, mask };
      }),
  background_remover: ({ width, height, data }: Picture) => {
    const mask = grayImage(width, height);
    for (let at = 0; at < mask.data.length; at++) mask.data[at] = data[4 * at + 3]!;
    return [{ label: null, score: null, mask }];
  },
};

function grayImage(width: number, height: number): PipelineImage {
  return { data: new Uint8ClampedArray(width * height), width, height, channels: 1 };
}

/** Returns a picture in red, green and blue; with its opacity, if a pixel is not opaque. */
export function opaque({ width, height, data }: Picture): PipelineImage {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return { data, width, height, channels: 4 };
  const colors = new Uint8ClampedArray(width * height * 3);
  for (let at = 0, to = 0; at < data.length; at += 4) {
    colors[to++] = data[at]!;
    colors[to++] = data[at + 1]!;
    colors[to++] = data[at + 2]!;
  }
  return { data: colors, width, height, channels: 3 };
}
