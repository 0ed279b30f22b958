import { asTabServeError, PredictionError, TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind, NodeHandler } from '../../../contract/handler.js';
import type { DecodedImage, ImageInput, Region } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { distinct, follow, stateFor, type FollowState, type Reading } from './follow.js';
import type { FoundFace, FoundLandmarks } from './found.js';
import { inPhoto } from './key-points.js';
import { hasInside, squareOf } from './region.js';
import { numbersOf } from '../../outputs/rows.js';
import { checkScores, inUnit } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { ImageCrop } from '../../transforms/crop-image.js';
import { cropRegion } from '../../transforms/crop-region.js';
import { FaceDetector } from './face-detector.js';
import { LandmarkModel, runOnCrops, sideOf } from './landmark-model.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import { LANDMARK_WORKFLOW_SCHEMA } from './schemas.js';

export type { FoundLandmarks, Landmark } from './found.js';

/** The `params` of `face_landmarker`, `hand_landmarker` and `pose_landmarker`. */
export interface LandmarkerParams extends Pick<VisionParams, 'exifOrientation' | 'background'> {
  /**
   * The least score of the detector. MediaPipe: min_detection_confidence.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly detectionThreshold?: number;
  /**
   * The least score of the model of landmarks. MediaPipe: min_tracking_confidence.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly scoreThreshold?: number;
  /**
   * The most that are looked at in a photo.
   * @integer
   * @minimum 1
   * @maximum 100
   * @default 20
   */
  readonly maxDetections?: number;
  /**
   * In a sequence: in how many frames the detector runs once, while somebody is followed.
   * @integer
   * @minimum 1
   * @maximum 10000
   * @default 10
   */
  readonly detectEvery?: number;
  /**
   * In a sequence: whether the landmarks are smoothed, with the 1€ filter.
   * @default true
   */
  readonly smoothing?: boolean;
}

/** A photo of a batch. */
export interface PhotoRow {
  /** Its upright pixels. */
  readonly image: DecodedImage;
  readonly photo: ImageInput;
  readonly index: number;
  readonly context: Context;
}

/**
 * Finds faces, hands or people with the node `detect`, cuts a rotated square out of the photo for each of them, and has
 * the node `landmarks` find the points in it. In a sequence the detector runs only if nobody is followed, or every
 * `detectEvery` frames; otherwise the landmarks of the last frame say where to look.
 */
export abstract class LandmarkWorkflow<Found extends FoundLandmarks> extends WorkflowHandler<
  ImageInput,
  readonly Found[]
> {
  declare readonly paramsType?: LandmarkerParams;

  static override readonly takes: InputKind = 'image';

  static override readonly schema: ConfigSchema = LANDMARK_WORKFLOW_SCHEMA;

  /** The node with the model of landmarks. */
  protected landmarks!: NodeHandler<LandmarkModel>;
  #detect!: NodeHandler<FaceDetector>;
  /** The sides of the nodes' images, in pixels. */
  #detectorSide!: number;
  #side!: number;

  /** The outputs of the model of landmarks, in the order in which `read` takes them, with the lengths of a row. */
  protected abstract get outputs(): readonly { readonly name: string; readonly length: number }[];

  /** How many key points of the detector `regionOf` needs. */
  protected abstract readonly detectorPoints: number;

  /**
   * Whether the landmarks of a frame say where to look in the next one. Otherwise every frame is looked at as a photo is.
   */
  protected get follows(): boolean {
    return true;
  }

  /** Whether the detector finds each person once: regions that overlap are then different people. */
  protected get detectsEachOnce(): boolean {
    return false;
  }

  /** Returns the region that the model of landmarks sees of one that the detector has found. */
  protected abstract regionOf(detection: FoundFace): Region;

  /**
   * Converts what the model has made of a region.
   * @param outputs as `outputs` lists them
   * @param side of the crop
   * @param all outputs of the model
   */
  protected abstract read(outputs: readonly Float32Array[], region: Region, side: number, all: Tensors): Reading<Found>;

  /** Opens the nodes. @throws `model-config` if they do not fit one another, and what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.landmarks = await context.openHandler('landmarks', LandmarkModel);
    await this.openDetector(context);
  }

  /** Opens what finds the regions, and checks that the model of landmarks fits. A subclass with another form overrides it. */
  protected async openDetector(context: Context): Promise<void> {
    this.#detect = await context.openHandler('detect', FaceDetector);
    this.#detectorSide = sideOf(this.#detect);
    this.#side = sideOf(this.landmarks);
    const { model } = this.landmarks.handler;
    const names = this.outputs.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined)
      throw new TabServeError(
        'model-config',
        `handler.outputs: "${twice}" has two roles. Name another output for one of them; those without a name have their usual one.`,
      );
    const missing = this.outputs.find(({ name }) => !model.outputs.some((output) => output.name === name));
    if (missing)
      throw new TabServeError(
        'model-config',
        `handler.outputs: the model of the node "landmarks" has no output "${missing.name}"; it has ${model.outputs.map(({ name }) => `"${name}"`).join(', ')}.`,
      );
  }

  /** Answers the photos one after the other. A photo that cannot be answered fails alone. */
  override async inference(
    photos: readonly ImageInput[],
    context: Context,
  ): Promise<readonly (readonly Found[] | undefined)[]> {
    const answers: (readonly Found[] | undefined)[] = [];
    for (const [index, photo] of photos.entries())
      try {
        answers[index] = await this.#answer(photo, index, context);
      } catch (error) {
        context.signal.throwIfAborted();
        context.fail(index, asTabServeError(error, 'inference'));
      }
    return Array.from({ length: photos.length }, (_, index) => answers[index]);
  }

  async #answer(photo: ImageInput, index: number, context: Context): Promise<readonly Found[]> {
    const image = await context.decodeImage(photo, {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    });
    try {
      return await this.#follow(image, photo, index, context);
    } finally {
      image.close();
    }
  }

  async #follow(image: DecodedImage, photo: ImageInput, index: number, context: Context): Promise<readonly Found[]> {
    const last = context.state(index) as FollowState | undefined;
    const state = stateFor(image, last);
    const detects =
      !this.follows ||
      !state ||
      state.followed.length === 0 ||
      state.sinceDetection + 1 >= this.param<number>('detectEvery', index, context);
    const row: PhotoRow = { image, photo, index, context };
    const readings = await this.#readAll(row, this.follows ? (state?.followed ?? []) : [], detects);
    if (context.sequenceId(index) === undefined) return readings.map(({ found }) => found);
    const { width, height } = image;
    const smoothing = this.param<boolean>('smoothing', index, context);
    const next = follow(last, readings, { width, height, time: secondsOf(photo), detects, smoothing });
    context.setState(index, next.state);
    return next.found;
  }

  /** Finds all in a photo. @param followed where to look for those of the frame before @param detects whether for others, too */
  async #readAll(
    row: PhotoRow,
    followed: readonly { readonly region: Region }[],
    detects: boolean,
  ): Promise<readonly Reading<Found>[]> {
    const limit = this.param<number>('maxDetections', row.index, row.context);
    const detected = detects ? (await this.findRegions(row)).filter(hasInside).map((region) => ({ region })) : [];
    const areOthers = followed.length === 0 && this.detectsEachOnce;
    const regions = areOthers ? detected.slice(0, limit) : distinct([...followed, ...detected], limit);
    const readings = await this.readRegions(
      row,
      regions.map(({ region }) => region),
    );
    // Two that are followed may come to be the same one.
    if (!this.follows || areOthers) return readings.slice(0, limit);
    return distinct(
      readings.map((reading) => ({ ...reading, region: reading.next })),
      limit,
    );
  }

  /** Runs the detector on a photo. @returns the regions to look at */
  protected async findRegions({ image, index, context }: PhotoRow): Promise<readonly Region[]> {
    // The detector would cut out the same square, of which the photo is the middle.
    const square = squareOf(image);
    const side = this.#detectorSide;
    const { data } = await cropRegion(image, square, { columns: side, rows: side }, 'zero');
    const input = { data: data as Uint8ClampedArray, dims: [side, side, 3] };
    const [found] = await this.#detect.handle([input], context, {
      params: {
        scoreThreshold: this.param('detectionThreshold', index, context),
        maxDetections: this.param('maxDetections', index, context),
      },
    });
    if (found instanceof PredictionError) throw found;
    return found!.map((one) => {
      if (one.landmarks.length >= this.detectorPoints) return this.regionOf(inPhoto(one, square, side));
      throw new TabServeError(
        'model-config',
        `Node "detect": the detector must find ${this.detectorPoints} key points, not ${one.landmarks.length}. Name them in its handler.points.`,
      );
    });
  }

  /** Runs the model of landmarks on regions of a photo. @returns those that it has seen */
  protected async readRegions(
    { image, index, context }: PhotoRow,
    regions: readonly Region[],
  ): Promise<readonly Reading<Found>[]> {
    const size = { columns: this.#side, rows: this.#side };
    const crops = regions.map((region) => new ImageCrop(image, region, size, 'replicate'));
    const rows = await runOnCrops(this.landmarks, crops, context);
    const least = this.param<number>('scoreThreshold', index, context);
    return rows.flatMap((row, at) => {
      if (row instanceof PredictionError) throw row;
      const reading = this.read(this.#numbersOf(row.outputs), regions[at]!, this.#side, row.outputs);
      return reading.found.score >= least ? [reading] : [];
    });
  }

  /** @throws `inference-failed` if an output has another length, numbers that are not finite, or a score outside 0..1 */
  #numbersOf(outputs: Tensors): readonly Float32Array[] {
    return this.outputs.map(({ name, length }) => {
      const data = toFloats(numbersOf(outputs, name));
      if (data.length !== length)
        throw new TabServeError(
          'inference-failed',
          `The output "${name}" of the node "landmarks" has ${data.length} numbers for a region, and ${length} were expected. Name another output in handler.outputs.`,
        );
      const isScore = length === 1;
      checkScores(data, isScore ? 'probabilities' : 'logits', false);
      return isScore ? data.map(inUnit) : data;
    });
  }
}

/** Returns when a frame was taken, in seconds, if it says so. */
function secondsOf(photo: ImageInput): number | undefined {
  return 'timestamp' in photo && typeof photo.timestamp === 'number' ? photo.timestamp / 1e6 : undefined;
}
