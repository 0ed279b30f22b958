import { PredictionError, TabServeError } from '../../../contract/errors.js';
import type { Context, NodeHandler, Params } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Region } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import { loadScript } from '../../../shared/load-script.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { Reading } from './follow.js';
import { boxAround, type FoundFace } from './found.js';
import { refinePoints } from './heat-maps.js';
import { POSE_LANDMARKS } from './names.js';
import { readPoints } from './points.js';
import { boxOfRegion, regionOfCircle, turnOf, type Point } from './region.js';
import { numbersOf } from '../../outputs/rows.js';
import type { RunMask } from '../../outputs/runs.js';
import { checkScores, logistic } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { ImageCrop } from '../../transforms/crop-image.js';
import { runOnCrops } from './landmark-model.js';
import { loadHandler, type HandlerOf } from '../../handlers/registry.js';
import { LandmarkWorkflow, type FoundLandmarks, type LandmarkerParams, type PhotoRow } from './landmark-workflow.js';
import { named, regionAroundBox, viewsOf, type PersonForm, type PhotoForm, type PoseForm } from './pose-form.js';
import { poseFormOf } from './pose-forms.js';
import { meanScore } from './pose-photos.js';
import { POSE_LANDMARKER_SCHEMA } from './schemas.js';

/** A person with the landmarks of the body, each with its `score`: how likely it is visible. */
export interface PoseLandmarks extends FoundLandmarks {
  /** With the param `mask`: the person's pixels in the upright photo. */
  readonly mask?: RunMask;
}

/** The `params` of `pose_landmarker`. */
export interface PoseLandmarkerParams extends LandmarkerParams {
  /**
   * Whether each person has a mask: its pixels of the photo. Only for BlazePose.
   * @default false
   */
  readonly mask?: boolean;
  /**
   * The least score of a person. Default: 0.5 for BlazePose, otherwise 0.25.
   * @minimum 0
   * @maximum 1
   */
  readonly scoreThreshold?: number;
}

/** What BlazePose has made of a region, with what its mask is made of. */
interface BlazePoseReading extends Reading<PoseLandmarks> {
  readonly seen: Region;
  readonly all: Tensors;
}

/** Behind the body's landmarks come two that say where it is, and others that have no use here. */
const COUNT = 39;
const [HIPS, CIRCLE] = [33, 34];
/** Numbers of a landmark: x, y, z, and the logits of being visible and of being in the picture. */
const STRIDE = 5;
const VISIBLE = 3;
/** The side of the heat maps. */
const MAP = 64;
const UP = Math.PI / 2;
const RULE = { scale: 1.25 };
const OUTPUTS = {
  landmarks: 'ld_3d',
  presence: 'output_poseflag',
  heatmap: 'activation_heatmap',
  mask: 'activation_segmentation',
} as const;

/** The least score of a person, by models other than BlazePose: Ultralytics' and MoveNet's own default. */
const LEAST_SCORE = 0.25;
/** The label of people in COCO. */
const PERSON = 'person';
/** Points of a higher score say where a person is in the next frame. */
const SEEN = 0.3;
/** How much larger than its points a person is: rtmlib's factor. */
const AROUND = 1.25;

/** The keys of `handler:` that only the config sets. */
export interface PoseLandmarkerConfig {
  /** The names of the outputs of the node `landmarks`. */
  readonly outputs?: {
    /** The name of the output with the landmarks. Default: ld_3d. */
    readonly landmarks?: string;
    /** The name of the output with the presence. Default: output_poseflag. */
    readonly presence?: string;
    /** The name of the output with the heatmap. Default: activation_heatmap. */
    readonly heatmap?: string;
    /** The name of the output with the mask. Default: activation_segmentation. */
    readonly mask?: string;
  };
  /**
   * The form of the outputs: MediaPipe's (blazepose), MoveNet's (movenet), Ultralytics' pose models' (yolov8,
   * which YOLO11 has, too; rows, if the model removes overlapping boxes itself), RTMPose's (simcc), or ViTPose's
   * (heatmaps). Default: by the outputs, and by what Ultralytics writes in the file.
   */
  readonly decoder?: 'blazepose' | 'movenet' | 'yolov8' | 'rows' | 'simcc' | 'heatmaps';
}

/**
 * Finds the points of bodies. The node `landmarks` is a `vision_handler`, and its outputs say in which form its model
 * answers, or `handler.decoder`:
 *
 * - MediaPipe's BlazePose (`lite`, `full` or `heavy`), with 33 points. The node `detect` is a `face_detector` with the
 *   anchors and the points of its detector of people; the model sees a square that is turned so that the person stands
 *   upright. Its heat maps refine the points.
 * - MoveNet and Ultralytics' pose models find people themselves, in the whole photo. There is no node `detect`.
 * - SimCC (RTMPose) and heat maps (ViTPose) find the points of one person in a crop. The node `detect` is any
 *   `object_detector` with the label "person"; without it the whole photo is one person.
 *
 * @answer `[{ id?, score, box: { xmin, ymin, xmax, ymax }, landmarks: [{ x, y, z?, score, name }, …], mask? }, …]`, in pixels
 *   of the image; `id` in a sequence ([people](people.md))
 */
export class PoseLandmarker extends LandmarkWorkflow<PoseLandmarks> {
  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForPoseEstimation'],
    processor: 'image',
    nodes: { landmarks: ['model'] },
    nodeProcessors: { landmarks: 'image' },
  };

  static override readonly nearest: readonly Signature[] = [{ order: 70, reads: 'images', outputs: ['heatmaps'] }];

  declare readonly paramsType?: PoseLandmarkerParams;

  declare readonly configType?: PoseLandmarkerConfig;
  static override readonly schema: ConfigSchema = POSE_LANDMARKER_SCHEMA;

  /** Undefined for BlazePose, whose form this class knows. */
  #form: PoseForm | undefined;
  #people: NodeHandler<HandlerOf<'object_detector'>> | undefined;

  protected override readonly detectorPoints = 2;

  get #names(): typeof OUTPUTS {
    return { ...OUTPUTS, ...(this.config['outputs'] as Partial<typeof OUTPUTS>) };
  }

  protected override get outputs(): readonly { readonly name: string; readonly length: number }[] {
    const { landmarks, presence, heatmap } = this.#names;
    return [
      { name: landmarks, length: STRIDE * COUNT },
      { name: presence, length: 1 },
      { name: heatmap, length: MAP * MAP * COUNT },
    ];
  }

  protected override get defaults(): Params {
    return { ...super.defaults, scoreThreshold: this.#form ? LEAST_SCORE : 0.5 };
  }

  protected override get follows(): boolean {
    return !this.#form || this.#people !== undefined;
  }

  protected override get detectsEachOnce(): boolean {
    return this.#form !== undefined;
  }

  protected override async openDetector(context: Context): Promise<void> {
    const { config } = this;
    const isBlazePose = config['outputs'] !== undefined;
    const decoder = (config['decoder'] as string | undefined) ?? (isBlazePose ? 'blazepose' : undefined);
    this.#form = await poseFormOf(decoder, this.landmarks.handler, OUTPUTS.landmarks, context);
    if (!this.#form) return await super.openDetector(context);
    if (isBlazePose) throw unused('handler.outputs', 'only BlazePose has several');
    if (config['mask'] === true) throw unused('handler.mask', 'only BlazePose makes masks');
    const hasDetector = context.modelYamlConfig.nodes?.['detect'] !== undefined;
    if (!hasDetector) return this.#checkAlone(config, 'handler', 'model-config');
    if (this.#form.sees === 'photo')
      throw unused('nodes.detect', 'the model of the node "landmarks" finds the people itself');
    this.#people = await context.openHandler('detect', await loadHandler('object_detector'));
    const labels = Object.values(this.#people.handler.mapping ?? {});
    if (!labels.some(isPerson))
      throw new TabServeError(
        'model-config',
        `Node "detect": the detector must have the label "${PERSON}", but ${labels.length === 0 ? 'it has no labels' : `its labels are ${labels.slice(0, 5).join(', ')}${labels.length > 5 ? ' and others' : ''}`}. Name its class of people so in its handler.labels.`,
      );
  }

  /** @throws if a key is without effect where nothing detects people, or no landmarks say where to look */
  #checkAlone(keys: Params, where: string, code: 'model-config' | 'invalid-input'): void {
    const key = ['detectionThreshold', 'detectEvery'].find((one) => keys[one] !== undefined);
    if (key !== undefined) throw unused(`${where}.${key}`, 'there is no node "detect"', code);
  }

  protected override regionOf({ landmarks: [hips, edge] }: FoundFace): Region {
    return regionAround(hips!, edge!);
  }

  protected override read(
    [points, presence, heatmap]: readonly Float32Array[],
    region: Region,
    side: number,
    all: Tensors,
  ): BlazePoseReading {
    // The mean of places that is weighted by logits may lie anywhere.
    checkScores(heatmap!, 'probabilities', false);
    const refined = refinePoints(points!, { count: COUNT, stride: STRIDE, side }, { data: heatmap!, side: MAP });
    const placed = readPoints(refined, { count: COUNT, stride: STRIDE, side, region });
    const landmarks = POSE_LANDMARKS.map((name, at) => ({
      ...placed[at]!,
      score: logistic(points![at * STRIDE + VISIBLE]!),
      name,
    }));
    const found = { score: presence![0]!, box: boxAround(landmarks), landmarks };
    return { found, next: regionAround(placed[HIPS]!, placed[CIRCLE]!), seen: region, all };
  }

  protected override async findRegions(row: PhotoRow): Promise<readonly Region[]> {
    if (!this.#form) return await super.findRegions(row);
    const { image, photo, index, context } = row;
    if (!this.#people) this.#checkAlone(context.params[index] ?? {}, 'params', 'invalid-input');
    if (this.#form.sees === 'photo') return [];
    const whole = { xmin: 0, ymin: 0, xmax: image.width, ymax: image.height };
    if (!this.#people) return [this.#form.regionOf(whole)];
    const [found] = await this.#people.handle([photo], context, {
      params: {
        scoreThreshold: this.param('detectionThreshold', index, context),
        exifOrientation: this.param('exifOrientation', index, context),
        background: this.param('background', index, context),
        result: 'typed',
      },
    });
    if (found instanceof PredictionError) throw found;
    const { regionOf } = this.#form;
    return found!.filter(({ label }) => isPerson(label)).map(({ box }) => regionOf(box));
  }

  protected override async readRegions(
    row: PhotoRow,
    regions: readonly Region[],
  ): Promise<readonly Reading<PoseLandmarks>[]> {
    const masks = this.param<boolean>('mask', row.index, row.context);
    if (!this.#form) {
      const readings = (await super.readRegions(row, regions)) as readonly BlazePoseReading[];
      return masks ? await this.#withMasks(readings, row) : readings;
    }
    if (masks) throw unused('params.mask', 'only BlazePose makes masks', 'invalid-input');
    return this.#form.sees === 'photo'
      ? await this.#findPeople(row, this.#form)
      : await this.#readPeople(row, regions, this.#form);
  }

  async #withMasks(
    readings: readonly BlazePoseReading[],
    { image }: PhotoRow,
  ): Promise<readonly Reading<PoseLandmarks>[]> {
    const bodyMask = await loadScript(async () => (await import('./body-mask.js')).bodyMask);
    return readings.map(({ found, next, seen, all }) => {
      const map = toFloats(numbersOf(all, this.#names.mask));
      checkScores(map, 'probabilities', false);
      const side = Math.sqrt(map.length);
      if (!Number.isInteger(side))
        throw new TabServeError(
          'model-config',
          `The output "${this.#names.mask}" has ${map.length} numbers for a person, which are no square map. Name the one with the mask in handler.outputs.`,
        );
      return { found: { ...found, mask: bodyMask(map, side, seen, image) }, next };
    });
  }

  /** Runs a model that sees the whole photo. */
  async #findPeople({ photo, index, context }: PhotoRow, form: PhotoForm): Promise<readonly Reading<PoseLandmarks>[]> {
    const [row] = await this.landmarks.handle([photo], context, {
      params: {
        exifOrientation: this.param('exifOrientation', index, context),
        background: this.param('background', index, context),
      },
    });
    if (row instanceof PredictionError) throw row;
    const { outputs, placement } = row!;
    const people = form.find(viewsOf(outputs, form.outputs), placement, {
      score: this.param('scoreThreshold', index, context),
      iou: 1,
      count: this.param('maxDetections', index, context),
    });
    return people.map((pose) => ({ found: named(pose), next: regionAroundBox(pose.box, 1) }));
  }

  /** Runs a model that sees one person on each region. */
  async #readPeople(
    { image, index, context }: PhotoRow,
    regions: readonly Region[],
    form: PersonForm,
  ): Promise<readonly Reading<PoseLandmarks>[]> {
    const size = this.landmarks.handler.size!;
    const crops = regions.map((region) => new ImageCrop(image, region, size, form.border));
    const rows = await runOnCrops(this.landmarks, crops, context);
    const least = this.param<number>('scoreThreshold', index, context);
    return rows.flatMap((row, at) => {
      if (row instanceof PredictionError) throw row;
      const points = form.read(viewsOf(row.outputs, form.outputs), regions[at]!);
      const score = meanScore(points);
      if (score < least) return [];
      const seen = points.filter((point) => point.score > SEEN);
      const next =
        seen.length > 1 ? form.regionOf(boxOfRegion(regionAroundBox(boxAround(seen), AROUND))) : regions[at]!;
      return [{ found: named({ score, box: boxAround(points), points }), next }];
    });
  }
}

function isPerson(label: string): boolean {
  return label.toLowerCase() === PERSON;
}

function unused(key: string, why: string, code: 'model-config' | 'invalid-input' = 'model-config'): TabServeError {
  return new TabServeError(code, `${key} is without effect: ${why}. Remove it.`);
}

/** Returns the region of a person. @param hips the middle of the hips @param edge a point on a circle around the person */
function regionAround(hips: Point, edge: Point): Region {
  return regionOfCircle(hips, edge, turnOf(hips, edge, UP), RULE);
}
