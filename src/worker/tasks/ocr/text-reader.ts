import { PredictionError } from '../../../contract/errors.js';
import type { Context, InputKind, NodeHandler } from '../../../contract/handler.js';
import type { ImageInput } from '../../../contract/images.js';
import type { TypedArrayInput } from '../../../contract/tensors.js';
import { cropQuad, ratioOf, turnAround, type Quad, type Raster } from './raster.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { decodeRaster } from './text-line-handler.js';
import { TextDetector } from './text-detector.js';
import { TextOrienter } from './text-orienter.js';
import { TextRecognizer } from './text-recognizer.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import { TEXT_READER_SCHEMA } from './schemas.js';

/** Lines that are oriented, and read, together. */
const BATCH = 6;

/** A line of text in a photo. */
export interface TextLine {
  readonly text: string;
  /** The mean of the characters' probabilities, in 0..1. */
  readonly score: number;
  /**
   * The corners in the photo's pixels: from the top left of the box, clockwise. Those of a line that is upside down,
   * too.
   */
  readonly box: Quad;
}

/** The `params` of a text reader. */
export interface TextReaderParams {
  /**
   * The least score of a line. PaddleOCR: drop_score.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly minScore?: number;
}

/**
 * Reads the text in photos (OCR) with PaddleOCR's models: the node `detect` finds the lines, `orient`, if there is one,
 * says which are upside down, and `recognize` reads them. Returns the lines from top to bottom. `client.stream` yields
 * each line as soon as it has been read, the shortest first.
 * @answer `[{ text, score, box: [[x, y], …] }, …]`: its lines of text, each with four corners in pixels of the image
 *   ([a sample](tasks/read-text.md))
 */
export class TextReader extends WorkflowHandler<ImageInput, readonly TextLine[]> {
  declare readonly paramsType?: TextReaderParams;
  declare readonly partType?: TextLine;

  static override readonly takes: InputKind = 'image';
  static override readonly schema: ConfigSchema = TEXT_READER_SCHEMA;

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
    const minScore = this.param<number>('minScore', index, context);
    const lines: (TextLine | undefined)[] = [];
    // Cut out a batch at a time: a photo may have a thousand lines.
    for (const batch of byLength(boxes!)) {
      const crops = await this.#turn(
        batch.map((at) => cropQuad(photo, boxes![at]!)),
        context,
      );
      const texts = await this.#recognize.handle(crops.map(pixelsOf), context);
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
  async #turn(crops: readonly Raster[], context: Context): Promise<readonly Raster[]> {
    if (!this.#orient) return crops;
    const found = await this.#orient.handle(crops.map(pixelsOf), context);
    return crops.map((crop, order) => {
      const orientation = found[order]!;
      if (orientation instanceof PredictionError) throw orientation;
      return orientation.upsideDown ? turnAround(crop) : crop;
    });
  }
}

function pixelsOf({ width, height, data }: Raster): TypedArrayInput {
  return { data, dims: [height, width, 3] };
}

/**
 * Returns the places of the lines in batches of lines of similar length, the shortest first, as PaddleOCR makes them.
 */
function byLength(boxes: readonly Quad[]): readonly (readonly number[])[] {
  const ratios = boxes.map(ratioOf);
  const order = [...boxes.keys()].sort((a, b) => ratios[a]! - ratios[b]!);
  return Array.from({ length: Math.ceil(order.length / BATCH) }, (_, batch) =>
    order.slice(batch * BATCH, (batch + 1) * BATCH),
  );
}
