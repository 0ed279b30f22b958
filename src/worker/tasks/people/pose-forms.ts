import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import { describeOutputs, type ModelFacts } from '../../outputs/boxes/decoder.js';
import { checkFloats } from '../../outputs/floats.js';
import { labelCount } from '../../outputs/labels.js';
import type { LandmarkModel } from './landmark-model.js';
import { exportOf } from '../../handlers/model-export.js';
import { heatMapForm, simccForm } from './pose-crops.js';
import type { PoseForm } from './pose-form.js';
import { moveNetForm, yoloPoseForm } from './pose-photos.js';

/** The forms, by their names in a config. */
export const POSE_DECODERS = ['blazepose', 'movenet', 'yolov8', 'rows', 'simcc', 'heatmaps'] as const;
type PoseDecoder = (typeof POSE_DECODERS)[number];

/** COCO's points, and x, y and score of each. */
const COCO_SHAPE = [17, 3] as const;

/**
 * Returns the form of a model; undefined for BlazePose.
 * @param decoder what the config names @param blazePose an output that only BlazePose has
 * @throws `model-config` if the form is unknown, or the model does not fit it
 */
export async function poseFormOf(
  decoder: string | undefined,
  landmarks: LandmarkModel,
  blazePose: string,
  context: Context,
): Promise<PoseForm | undefined> {
  const { outputs } = landmarks.model;
  const exported = await exportOf(landmarks.model);
  exported?.checkTask('pose_landmarker', 'pose');
  const model: ModelFacts = {
    outputs,
    output: landmarks.outputInfo,
    size: landmarks.declaredSize,
    labels: labelCount(landmarks.mapping),
    json: (path) => context.files.json(path),
    warn: (message) => context.warn(message),
  };
  const name = (decoder ?? exported?.decoderOf('pose') ?? decoderOf(model, blazePose)) as PoseDecoder | undefined;
  if (name === 'blazepose') return undefined;
  if (name === 'movenet') return floats(moveNetForm(model), outputs);
  if (name === 'yolov8' || name === 'rows')
    return await yoloPoseForm(name, model, exported?.keyPoints ?? COCO_SHAPE, exported && labelCount(exported.names));
  if (name === undefined)
    throw new TabServeError(
      'model-config',
      `pose_landmarker does not know a model by the outputs of the node "landmarks", ${describeOutputs(outputs)}. Set handler.decoder to one of ${POSE_DECODERS.join(', ')}; for BlazePose under other names, set handler.outputs.`,
    );
  const { size } = landmarks;
  if (!size)
    throw new TabServeError(
      'model-config',
      `handler.decoder: for ${name}, the model must take images of one size, but the input "${landmarks.inputInfo.name}" of the node "landmarks" has the dims [${landmarks.inputInfo.dims.map((one) => one ?? '?').join(', ')}]. Add resize: [height, width] to its imageProcessing.`,
    );
  return floats(name === 'simcc' ? simccForm(model, size) : heatMapForm(model, size), outputs);
}

/** Returns a form whose outputs may hold floating-point numbers. @throws `model-config` */
function floats<T extends PoseForm>(form: T, outputs: ModelFacts['outputs']): T {
  checkFloats(form.outputs, outputs);
  return form;
}

/** Returns the form that the outputs show; undefined if they show none. */
function decoderOf({ outputs, output }: ModelFacts, blazePose: string): PoseDecoder | undefined {
  const has = (name: string): boolean => outputs.some((one) => one.name === name);
  if (has(blazePose)) return 'blazepose';
  if (has('simcc_x') && has('simcc_y')) return 'simcc';
  const [, people, points, numbers] = output.dims;
  if (output.dims.length === 4 && people === 1 && points === 17 && numbers === 3) return 'movenet';
  if (output.dims.length === 3 && points === 56 && (typeof people !== 'number' || people < 56)) return 'movenet';
  if (output.dims.length === 3 && people === 56) return 'yolov8';
  return output.dims.length === 4 && has('heatmaps') ? 'heatmaps' : undefined;
}
