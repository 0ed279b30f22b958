import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { OutputInfo, Tensor, Tensors } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import { embed, type NormalizeParams } from '../../handlers/embed.js';
import { PREPROCESSOR } from '../../handlers/speech-files.js';
import type { Embedding } from '../../outputs/embedding.js';
import { SPEAKER_FEATURES } from '../../handlers/sound-features.js';
import { SPEAKER_EMBEDDER_SCHEMA } from './schemas.js';
import { SoundHandler } from './sound-handler.js';

/** The `params` of a speaker embedder. */
export interface SpeakerEmbedderParams extends Pick<NormalizeParams, 'normalize'> {}

/** The keys of `handler:` that only the config sets. */
export interface SpeakerEmbedderConfig extends AudioHandlerConfig {
  /**
   * The toolkit that a model of filter banks, [rows, frames, 80], was trained with: how its features are made. Default:
   * what preprocessor_config.json says; without that file, 3d-speaker if the model's input is called feature or x,
   * otherwise wespeaker.
   */
  readonly features?: 'wespeaker' | '3d-speaker';
}

/** The names of the output with the vectors, in this order: transformers', WeSpeaker's, 3D-Speaker's. */
const VECTORS = ['embeddings', 'embs', 'embedding', 'last_hidden_state'];

/** The names of the input in exports of 3D-Speaker, and of sherpa-onnx' copies of them. */
const INPUTS_3D_SPEAKER = new Set(['feature', 'x']);

/**
 * Returns one vector for each recording, which says who speaks: the same person's vectors are similar, whatever is said.
 * It runs WeSpeaker's models (ResNet34 and others) and those of 3D-Speaker (CAM++, ERes2Net), whose input is a filter
 * bank, `[rows, frames, 80]`; and `…ForXVector` of transformers, which read samples. The filter bank is Kaldi's, as
 * `torchaudio.compliance.kaldi` computes it: 80 mels in frames of 25 ms, one each 10 ms, less their mean.
 *
 * Vectors have the length 1 unless `normalize` is false; compare them with `cosineSimilarity` of `tabserve`. The rows of
 * a batch run one after the other, so that padding changes no answer.
 * @answer the speaker's vector: a `Float32Array` whose Euclidean norm is 1, to compare with `cosineSimilarity`
 */
export class SpeakerEmbedder extends SoundHandler<Embedding> {
  declare readonly paramsType?: SpeakerEmbedderParams;
  declare readonly configType?: SpeakerEmbedderConfig;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForXVector', 'WeSpeakerResNetModel'],
    files: [PREPROCESSOR, HF_CONFIG],
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 31, reads: 'sound', outputs: [['embeddings', 'embs', 'embedding']] },
    { order: 32, reads: 'sound', main: { rank: 2, name: ['last_hidden_state'] } },
  ];

  static override readonly schema: ConfigSchema = SPEAKER_EMBEDDER_SCHEMA;

  protected readonly handlerName = 'speaker_embedder';

  /**
   * Opens the model and finds its output of vectors.
   * @throws `model-config` if it has none
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = vectorsOf(this.model.outputs, this.outputInfo, this.config['outputName'] !== undefined);
  }

  protected override extractorOf({ files }: Context): Json | undefined {
    const { dims, name } = this.inputInfo;
    const toolkit = this.config['features'] as keyof typeof SPEAKER_FEATURES | undefined;
    if (toolkit !== undefined) return SPEAKER_FEATURES[toolkit];
    if (files.has(PREPROCESSOR) || dims.length !== 3) return undefined;
    return SPEAKER_FEATURES[INPUTS_3D_SPEAKER.has(name) ? '3d-speaker' : 'wespeaker'];
  }

  /** Converts the model's output, `[rows, features]`, to the vector of each row, and transfers its buffer to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Embedding {
    return embed(outputs, this.outputInfo.name, context.systemProperties.batchSize, {
      pool: ({ data }: Tensor) => (data as Embedding).slice() as Embedding,
      normalize: (index) => this.param('normalize', index, context),
      dimensions: () => undefined,
    });
  }
}

/** @throws `model-config` if no output has one vector for each row */
function vectorsOf(outputs: readonly OutputInfo[], chosen: OutputInfo, isNamed: boolean): OutputInfo {
  const named = VECTORS.flatMap((name) => outputs.filter((output) => output.name === name));
  const found = isNamed ? chosen : (named[0] ?? chosen);
  if (found.dims.length === 2) return found;
  throw new TabServeError(
    'model-config',
    `handler.outputName: speaker_embedder needs an output [rows, features], and "${found.name}" has ${found.dims.length} dims. Name another output.`,
  );
}
