/** CTC models of transformers' repositories: how sound becomes their input. */
import { SAMPLE_RATES } from '../../../contract/audio.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { OutputInfo, Session, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { loadScript } from '../../../shared/load-script.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { isRecord } from '../../../shared/schema.js';
import { zeroMeanUnitVariance } from '../../audio/samples.js';
import { isSampleRate, PREPROCESSOR, readConvolutions, readJson } from '../../handlers/speech-files.js';
import { integers } from '../../tensors/tensors.js';
import { checkClasses, readWriter } from './ctc-vocabulary.js';
import { frameClasses } from './frame-classes.js';
import type { Recognizer } from './recognizer.js';

/** The model's second input, if it has one. */
const MASK = 'attention_mask';
const SAMPLES = 'Wav2Vec2FeatureExtractor';
/** What else the models hear: frames of a spectrogram. */
const SPECTROGRAMS = ['SeamlessM4TFeatureExtractor', 'ParakeetFeatureExtractor'];
const NEITHER = 'audio_handler returns the output of any model of sound.';

/** A model, and what is read of it. */
export interface OpenedModel {
  readonly model: Session;
  readonly input: TensorInfo;
  readonly output: OutputInfo;
  /** Samples per second, instead of the files'. */
  readonly sampleRate: number | undefined;
}

/** How sound becomes the model's input. */
interface Hearing extends Pick<Recognizer, 'sampleRate' | 'leastSamples' | 'ratio'> {
  readonly feeds: (samples: Float32Array) => Tensors;
}

/**
 * @param config the parsed `config.json`
 * @throws `model-config` if the files say what cannot be done here, or what the model is not; `model-format`
 */
export async function openTransformersCtc(opened: OpenedModel, context: Context, config: Json): Promise<Recognizer> {
  const { files } = context;
  const { model, output } = opened;
  const [writer, extractor] = await Promise.all([
    readWriter(files, config),
    readJson(files, PREPROCESSOR, 'speech_recognizer'),
  ]);
  const { feature_extractor_type: type = SAMPLES } = extractor;
  const hearing = SPECTROGRAMS.includes(type as string)
    ? await hearingOfFrames(opened, context, config)
    : hearingOfSamples(opened, extractor, config);
  checkClasses(writer, output.name, output.dims[2]);
  return {
    ...hearing,
    ...writer,
    example: () => hearing.feeds(new Float32Array(hearing.sampleRate)),
    async hear(samples, { signal }) {
      return frameClasses(await model.run(hearing.feeds(samples), { signal }), output.name);
    },
  };
}

function hearingOfSamples(
  { model, input, output, sampleRate: given }: OpenedModel,
  extractor: Json,
  config: Json,
): Hearing {
  const { feature_extractor_type: type, sampling_rate: ownRate = 16_000, do_normalize: normalizes = true } = extractor;
  if (type !== undefined && type !== SAMPLES)
    throw underivable(
      PREPROCESSOR,
      'feature_extractor_type',
      type,
      [SAMPLES, ...SPECTROGRAMS].join(' or '),
      'The model takes something other than samples.',
    );
  const sampleRate = given ?? ownRate;
  if (!isSampleRate(sampleRate))
    throw underivable(
      PREPROCESSOR,
      'sampling_rate',
      sampleRate,
      `a whole number of samples per second from ${SAMPLE_RATES.least} to ${SAMPLE_RATES.most}`,
      'Set handler.sampleRate.',
    );
  const { conv_stride: strides, add_adapter: hasAdapter } = config;
  const convolutions = readConvolutions(config);
  if (!convolutions)
    throw underivable(HF_CONFIG, 'conv_stride', strides, 'whole numbers, as many as conv_kernel has', NEITHER);
  if (hasAdapter === true)
    throw underivable(
      HF_CONFIG,
      'add_adapter',
      hasAdapter,
      'false',
      `Its frames are not those of conv_stride. ${NEITHER}`,
    );
  const others = model.inputs.filter(({ name }) => name !== input.name && name !== MASK);
  if (others.length > 0 || input.dims.length !== 2 || output.dims.length !== 3)
    throw new TabServeError(
      'model-config',
      `speech_recognizer needs a model with an input [rows, samples] and an output [rows, frames, classes]; this one has the inputs ${model.inputs.map(({ name, dims }) => `"${name}" [${dims.map((dim) => dim ?? '?').join(', ')}]`).join(', ')} and the output "${output.name}" of ${output.dims.length} dims. ${NEITHER}`,
    );
  const mask = model.inputs.find(({ name }) => name === MASK)?.dtype;
  return {
    sampleRate,
    ...convolutions,
    feeds(samples) {
      const dims = [1, samples.length];
      const data = normalizes === false ? samples : zeroMeanUnitVariance(samples);
      const ones = (): number[] => Array.from(samples, () => 1);
      return {
        [input.name]: { dtype: 'float32', dims, data },
        ...(mask && { [MASK]: integers(mask, dims, ones()) }),
      };
    },
  };
}

/** @throws `model-config` */
async function hearingOfFrames(
  { model, input, sampleRate }: OpenedModel,
  { files, warn }: Context,
  config: Json,
): Promise<Hearing> {
  const readFeatures = await loadScript(async () => (await import('../../handlers/sound-features.js')).readFeatures);
  const features = await readFeatures(files, model, input, { handler: 'speech_recognizer', warn, sampleRate });
  return {
    sampleRate: features.sampleRate!,
    leastSamples: features.leastSamples,
    ratio: features.hop! * framesOfOne(config),
    feeds: (samples) => features.feeds(samples),
  };
}

/** Returns how many frames of the spectrogram become one of the model's. @throws `model-config` */
function framesOfOne(config: Json): number {
  const { encoder_config: encoder, add_adapter: hasAdapter } = config;
  const { adapter_stride: stride = 2, num_adapter_layers: layers = 1 } = config;
  const { subsampling_factor: factor = 8 } = isRecord(encoder) ? encoder : {};
  const frames = isRecord(encoder) ? factor : hasAdapter === true ? Number(stride) ** Number(layers) : 1;
  if (Number.isSafeInteger(frames) && (frames as number) > 0) return frames as number;
  throw underivable(HF_CONFIG, 'subsampling_factor', frames, 'a whole number of frames', NEITHER);
}
