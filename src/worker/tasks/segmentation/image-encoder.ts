import { PredictionError } from '../../../contract/errors.js';
import type { Context, NodeHandler } from '../../../contract/handler.js';
import type { ImageInput } from '../../../contract/images.js';
import { isKept, type KeptMessage } from '../../../contract/kept-message.js';
import type { Tensors } from '../../../contract/tensors.js';
import { slice } from '../../tensors/tensors.js';
import type { Placement } from '../../handlers/placements.js';
import { keptValue } from '../../handlers/row.js';
import { VisionHandler } from '../../handlers/vision-handler.js';

/** What the encoder of a model makes of an image, once for all that is asked of it. */
export interface EncodedImage {
  /** The encoder's outputs by name, each with a batch axis of 1. */
  readonly outputs: Tensors;
  readonly placement: Placement;
  /** Whether the tensor has padding beside the image. */
  readonly isPadded: boolean;
}

/** The part of a model that encodes images: a node of another handler. */
export class ImageEncoder extends VisionHandler<EncodedImage> {
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => EncodedImage {
    const isPadded = this.imageProcessing.some((step) => 'padTensor' in step || 'letterbox' in step || 'pad' in step);
    return (index) => ({
      outputs: Object.fromEntries(
        Object.entries(outputs).map(([name, tensor]) => [name, slice(tensor, index, index + 1)]),
      ),
      placement: this.requirePlacement(index, context),
      isPadded,
    });
  }
}

/** Encodes images. Those that the page retains are encoded once: the result stays in the worker, in `context.kept`. */
export class EncodedImages {
  readonly #encoder: NodeHandler<ImageEncoder>;
  /** Images that the page keeps and that are being encoded, by their keys. */
  readonly #running = new Map<string, Promise<EncodedImage>>();

  constructor(encoder: NodeHandler<ImageEncoder>) {
    this.#encoder = encoder;
  }

  /** @throws `state-lost` if the page has sent only the key, and nothing is cached; what the encoder throws */
  async of(image: ImageInput | KeptMessage<ImageInput>, context: Context): Promise<EncodedImage> {
    if (!isKept(image)) return await this.#encode(image, context);
    const { keptKey } = image;
    const known = context.kept.get(keptKey) as EncodedImage | undefined;
    if (known) return known;
    const running = this.#running.get(keptKey);
    // What another batch has begun may end with that batch's abort.
    if (running) return await running.catch(() => this.of(image, context));
    const encoding = this.#encode(keptValue(image), context);
    this.#running.set(keptKey, encoding);
    try {
      const encoded = await encoding;
      const bytes = bytesOf(encoded);
      if (!context.kept.set(keptKey, encoded, { bytes }))
        context.warn(
          `What the encoder makes of an image has ${bytes} bytes, more than handler.maxStateBytes: it is made again for each request. Raise maxStateBytes.`,
        );
      return encoded;
    } finally {
      this.#running.delete(keptKey);
    }
  }

  async #encode(image: ImageInput, context: Context): Promise<EncodedImage> {
    const [encoded] = await this.#encoder.handle([image], context);
    if (encoded instanceof PredictionError) throw encoded;
    return encoded!;
  }
}

function bytesOf({ outputs }: EncodedImage): number {
  return Object.values(outputs).reduce((sum, { data }) => sum + (ArrayBuffer.isView(data) ? data.byteLength : 0), 0);
}
