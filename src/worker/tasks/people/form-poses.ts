/** Poses by a model of another form than BlazePose's: it sees the whole photo, or one person after the other. */
import { PredictionError, TabServeError } from '../../../contract/errors.js';
import type { Context, NodeHandler, Params } from '../../../contract/handler.js';
import type { Region } from '../../../contract/images.js';
import { loadHandler, type HandlerOf } from '../../handlers/registry.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { ImageCrop } from '../../transforms/crop-image.js';
import type { PoseLandmarks } from './blaze-pose.js';
import type { Reading } from './follow.js';
import { boxAround } from './found.js';
import { runOnCrops, type LandmarkModel } from './landmark-model.js';
import type { PhotoRow } from './landmark-workflow.js';
import { named, regionAroundBox, viewsOf, type PersonForm, type PhotoForm, type PoseForm } from './pose-form.js';
import { meanScore } from './pose-photos.js';
import { boxOfRegion } from './region.js';

/** The label of people in COCO. */
const PERSON = 'person';
/** Points of a higher score say where a person is in the next frame. */
const SEEN = 0.3;
/** How much larger than its points a person is: rtmlib's factor. */
const AROUND = 1.25;
/** Keys that have an effect only where something detects people. */
const OF_DETECTOR = ['detectionThreshold', 'detectEvery'];

/** Returns the value of a param for a row. */
type ParamOf = <T>(name: string, row: PhotoRow) => T;

export class FormPoses {
  readonly #form: PoseForm;
  readonly #landmarks: NodeHandler<LandmarkModel>;
  readonly #people: NodeHandler<HandlerOf<'object_detector'>> | undefined;
  readonly #param: ParamOf;

  private constructor(
    form: PoseForm,
    landmarks: NodeHandler<LandmarkModel>,
    people: NodeHandler<HandlerOf<'object_detector'>> | undefined,
    param: ParamOf,
  ) {
    this.#form = form;
    this.#landmarks = landmarks;
    this.#people = people;
    this.#param = param;
  }

  /**
   * Opens the node `detect`, if there is one.
   * @param config the section `handler:`
   * @throws `model-config` for keys or a node without effect, and for a detector that knows no people
   */
  static async open(
    form: PoseForm,
    landmarks: NodeHandler<LandmarkModel>,
    config: Params,
    param: ParamOf,
    context: Context,
  ): Promise<FormPoses> {
    if (config['outputs'] !== undefined) throw unused('handler.outputs', 'only BlazePose has several');
    if (config['mask'] === true) throw unused('handler.mask', 'only BlazePose makes masks');
    if (context.modelYamlConfig.nodes?.['detect'] === undefined) {
      checkAlone(config, 'handler', 'model-config');
      return new FormPoses(form, landmarks, undefined, param);
    }
    if (form.sees === 'photo')
      throw unused('nodes.detect', 'the model of the node "landmarks" finds the people itself');
    const people = await context.openHandler('detect', await loadHandler('object_detector'));
    const labels = Object.values(people.handler.mapping ?? {});
    if (!labels.some(isPerson))
      throw new TabServeError(
        'model-config',
        `Node "detect": the detector must have the label "${PERSON}", but ${labels.length === 0 ? 'it has no labels' : `its labels are ${labels.slice(0, 5).join(', ')}${labels.length > 5 ? ' and others' : ''}`}. Name its class of people so in its handler.labels.`,
      );
    return new FormPoses(form, landmarks, people, param);
  }

  /** Whether the landmarks of a frame say where to look in the next one. */
  get follows(): boolean {
    return this.#people !== undefined;
  }

  /** Returns the regions of the people in a photo; none if the model sees the whole photo. */
  async findRegions(row: PhotoRow): Promise<readonly Region[]> {
    const { image, photo, index, context } = row;
    if (!this.#people) checkAlone(context.params[index] ?? {}, 'params', 'invalid-input');
    if (this.#form.sees === 'photo') return [];
    const { regionOf } = this.#form;
    if (!this.#people) return [regionOf({ xmin: 0, ymin: 0, xmax: image.width, ymax: image.height })];
    const [found] = await this.#people.handle([photo], context, {
      params: {
        ...this.#decoding(row),
        scoreThreshold: this.#param('detectionThreshold', row),
        result: 'typed',
      },
    });
    if (found instanceof PredictionError) throw found;
    return found!.filter(({ label }) => isPerson(label)).map(({ box }) => regionOf(box));
  }

  /** Returns the people of a photo. @throws `invalid-input` for a mask, which only BlazePose makes */
  async readRegions(row: PhotoRow, regions: readonly Region[]): Promise<readonly Reading<PoseLandmarks>[]> {
    if (this.#param<boolean>('mask', row)) throw unused('params.mask', 'only BlazePose makes masks', 'invalid-input');
    return this.#form.sees === 'photo'
      ? await this.#findPeople(row, this.#form)
      : await this.#readPeople(row, regions, this.#form);
  }

  /** Runs a model that sees the whole photo. */
  async #findPeople(row: PhotoRow, form: PhotoForm): Promise<readonly Reading<PoseLandmarks>[]> {
    const [answer] = await this.#landmarks.handle([row.photo], row.context, { params: this.#decoding(row) });
    if (answer instanceof PredictionError) throw answer;
    const { outputs, placement } = answer!;
    const people = form.find(viewsOf(outputs, form.outputs), placement, {
      score: this.#param('scoreThreshold', row),
      iou: 1,
      count: this.#param('maxDetections', row),
    });
    return people.map((pose) => ({ found: named(pose), next: regionAroundBox(pose.box, 1) }));
  }

  /** Runs a model that sees one person on each region. */
  async #readPeople(
    row: PhotoRow,
    regions: readonly Region[],
    form: PersonForm,
  ): Promise<readonly Reading<PoseLandmarks>[]> {
    const size = this.#landmarks.handler.size!;
    const crops = regions.map((region) => new ImageCrop(row.image, region, size, form.border));
    const answers = await runOnCrops(this.#landmarks, crops, row.context);
    const minScore = this.#param<number>('scoreThreshold', row);
    return answers.flatMap((answer, at) => {
      if (answer instanceof PredictionError) throw answer;
      const points = form.read(viewsOf(answer.outputs, form.outputs), regions[at]!);
      const score = meanScore(points);
      if (score < minScore) return [];
      const seen = points.filter((point) => point.score > SEEN);
      const next =
        seen.length > 1 ? form.regionOf(boxOfRegion(regionAroundBox(boxAround(seen), AROUND))) : regions[at]!;
      return [{ found: named({ score, box: boxAround(points), points }), next }];
    });
  }

  /** Returns the params of a node that decodes the photo. */
  #decoding(row: PhotoRow): VisionParams {
    return {
      exifOrientation: this.#param('exifOrientation', row),
      background: this.#param('background', row),
    };
  }
}

/** @throws for a key without effect where nothing detects people, or no landmarks say where to look */
function checkAlone(keys: Params, where: string, code: 'model-config' | 'invalid-input'): void {
  const key = OF_DETECTOR.find((one) => keys[one] !== undefined);
  if (key !== undefined) throw unused(`${where}.${key}`, 'there is no node "detect"', code);
}

function isPerson(label: string): boolean {
  return label.toLowerCase() === PERSON;
}

function unused(key: string, why: string, code: 'model-config' | 'invalid-input' = 'model-config'): TabServeError {
  return new TabServeError(code, `${key} is without effect: ${why}. Remove it.`);
}
