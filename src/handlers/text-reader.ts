import { PredictionError } from '../contract/errors.js';
import type { Context, NodeHandler } from '../contract/handler.js';
import type { ImageInput } from '../contract/images.js';
import type { TypedArrayInput } from '../contract/tensors.js';
import { cropQuad, turnAround, type Quad, type Raster } from '../outputs/ocr/raster.js';
import type { ConfigSchema } from '../shared/schema.js';
import { decodeRaster } from './text-line-handler.js';
import { TextDetector } from './text-detector.js';
import { TextOrienter } from './text-orienter.js';
import { TextRecognizer } from './text-recognizer.js';
import { WorkflowHandler } from './workflow-handler.js';

/** Lines that are oriented, and read, together. */
const BATCH = 6;

/** A line of text in a photo. */
export interface TextLine {
  readonly text: string;
  /** The mean of the characters' probabilities, in 0..1. */
  readonly score: number;
  /** The corners in the photo's pixels: from the top left of the box, clockwise. Those of a line that is upside down, too. */
  readonly box: Quad;
}

/** The `params` of a text reader. */
export interface TextReaderParams {
  /** The least score of a line. */
  readonly minScore?: number;
}

/**
 * Reads the text in photos (OCR) with PaddleOCR's models: the node `detect` finds the lines, `orient`, if there is one, says which are upside down, and `recognize` reads
 * them. Returns the lines from top to bottom. `client.stream` yields each line as soon as it has been read, the shortest first.
 */
export class TextReader extends WorkflowHandler<ImageInput, readonly TextLine[]> {
  declare readonly paramsType?: TextReaderParams;
  declare readonly partType?: TextLine;

  static override readonly schema: ConfigSchema = {
    minScore: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'The least score of a line. PaddleOCR: drop_score.',
      default: 0.5,
    },
  };

  #detect!: NodeHandler<TextDetector>;
  #orient: NodeHandler<TextOrienter> | undefined;
  #recognize!: NodeHandler<TextRecognizer>;

  /** Opens the nodes. @throws what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#detect = await context.openHandler('detect', TextDetector);
    if (context.modelYamlConfig.nodes?.['orient'] !== undefined)
      this.#orient = await context.openHandler('orient', TextOrienter);
    this.#recognize = await context.openHandler('recognize', TextRecognizer);
  }

  /** Reads the photos one after the other, so that a photo's answer does not depend on the others. */
  override async inference(
    photos: readonly ImageInput[],
    context: Context,
  ): Promise<readonly (readonly TextLine[] | PredictionError | undefined)[]> {
    const answers: (readonly TextLine[] | PredictionError | undefined)[] = [];
    for (const [index, photo] of photos.entries()) {
      try {
        answers.push(await this.#read(await decodeRaster(photo, context), index, context));
      } catch (error) {
        context.signal.throwIfAborted();
        context.fail(index, error);
        answers.push(undefined);
      }
    }
    return answers;
  }

  async #read(photo: Raster, index: number, context: Context): Promise<readonly TextLine[]> {
    const [boxes] = await this.#detect.handle([pixelsOf(photo)], context);
    if (boxes instanceof PredictionError) throw boxes;
    const crops = boxes!.map((box) => cropQuad(photo, box));
    await this.#turn(crops, context);
    const minScore = this.param<number>('minScore', index, context);
    const lines: (TextLine | undefined)[] = [];
    for (const batch of byLength(crops)) {
      const texts = await this.#recognize.handle(
        batch.map((at) => pixelsOf(crops[at]!)),
        context,
      );
      for (const [order, read] of texts.entries()) {
        if (read instanceof PredictionError) throw read;
        if (read.score < minScore) continue;
        const line: TextLine = { ...read, box: boxes![batch[order]!]! };
        lines[batch[order]!] = line;
        await context.send(index, line);
      }
    }
    return lines.filter((line) => line !== undefined);
  }

  /** Turns the lines that are upside down. */
  async #turn(crops: Raster[], context: Context): Promise<void> {
    if (!this.#orient) return;
    for (const batch of byLength(crops)) {
      const found = await this.#orient.handle(
        batch.map((at) => pixelsOf(crops[at]!)),
        context,
      );
      for (const [order, orientation] of found.entries()) {
        if (orientation instanceof PredictionError) throw orientation;
        const at = batch[order]!;
        if (orientation.upsideDown) crops[at] = turnAround(crops[at]!);
      }
    }
  }
}

function pixelsOf({ width, height, data }: Raster): TypedArrayInput {
  return { data, dims: [height, width, 3] };
}

/** Returns the places of the lines in batches of lines of similar length, the shortest first, as PaddleOCR makes them. */
function byLength(crops: readonly Raster[]): readonly (readonly number[])[] {
  const ratio = (at: number): number => crops[at]!.width / crops[at]!.height;
  const order = [...crops.keys()].sort((a, b) => ratio(a) - ratio(b));
  return Array.from({ length: Math.ceil(order.length / BATCH) }, (_, batch) =>
    order.slice(batch * BATCH, (batch + 1) * BATCH),
  );
}
