import type { AudioInput } from '../../../contract/audio.js';
import type { PredictionError } from '../../../contract/errors.js';
import type { Context, InputKind, NodeHandler } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import type { Json } from '../../../shared/hugging-face.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { embed } from '../../handlers/embed.js';
import type { TextLengths } from '../../handlers/label-texts.js';
import { PREPROCESSOR, readJson } from '../../handlers/speech-files.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { TextInput } from '../../handlers/text-handler.js';
import { openTextPart, textVectors, vectorOutput, type TextPart, isText } from '../../handlers/text-vectors.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import type { Embedding } from '../../outputs/embedding.js';
import { AUDIO_TEXT_EMBEDDER_SCHEMA } from './schemas.js';
import { SoundHandler } from './sound-handler.js';

/** The input of one row: sound; or a text, as a string, `{ text }`, or a Blob whose type begins with `text/`. */
export type AudioTextInput = AudioInput | string | { readonly text: string };

/** The keys of `handler:` that only the config sets. */
export interface AudioTextEmbedderConfig extends TextLengths, StateConfig {}

/**
 * Returns the features of each sound or text as one vector of a space that both share, for search of sounds by words,
 * with the two parts of CLAP: the node `audio` (`audio_model.onnx`) and the node `text` (`text_model.onnx`). The vectors
 * of texts stay in the worker, up to `maxStateBytes`. All vectors have the length 1; compare them with `cosineSimilarity`
 * and `nearest` of `tabserve`. Of a sound that is longer than ten seconds, the beginning is heard.
 * @input a sound, or a text
 * @answer the features of the sound or text: a `Float32Array` whose Euclidean norm is 1, to compare with
 *   `cosineSimilarity` and `nearest`
 */
export class AudioTextEmbedder extends WorkflowHandler<AudioTextInput, Embedding> {
  static override readonly takes: InputKind = 'audio';

  static override readonly huggingFace: HuggingFaceTask = {
    files: [PREPROCESSOR],
    nodes: { audio: ['audio_model'], text: ['text_model'] },
    nodeProcessors: { text: 'tokenizer' },
  };

  declare readonly configType?: AudioTextEmbedderConfig;
  static override readonly schema: ConfigSchema = AUDIO_TEXT_EMBEDDER_SCHEMA;

  #audio!: NodeHandler<SoundHandler<Embedding>>;
  #text!: TextPart;

  /** Opens both parts. @throws what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const extractor = await readJson(context.files, PREPROCESSOR, 'audio_text_embedder');
    this.#audio = await context.openHandler(
      'audio',
      class extends AudioPart {
        protected override extractorOf(): Json {
          return extractor;
        }
      },
    );
    this.#text = await openTextPart(context);
  }

  /** Runs each part on its rows. */
  override async inference(
    rows: readonly AudioTextInput[],
    context: Context,
  ): Promise<readonly (Embedding | PredictionError | undefined)[]> {
    const places = [...rows.keys()];
    const [texts, sounds] = [places.filter((at) => isText(rows[at]!)), places.filter((at) => !isText(rows[at]!))];
    const answers: (Embedding | PredictionError | undefined)[] = [];
    const vectors = await textVectors(
      this.#text,
      texts.map((at) => rows[at] as TextInput),
      context,
    );
    for (const [order, at] of texts.entries()) answers[at] = vectors[order];
    const heard = await this.#audio.handle(
      sounds.map((at) => rows[at] as AudioInput),
      context,
    );
    for (const [order, at] of sounds.entries()) answers[at] = heard[order];
    return answers;
  }
}

/** The part that hears. */
class AudioPart extends SoundHandler<Embedding> {
  protected readonly handlerName = 'audio_text_embedder';

  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = vectorOutput(this.model.outputs, 'audio_embeds');
  }

  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Embedding {
    return embed(outputs, this.outputInfo.name, context.systemProperties.batchSize, {
      pool: ({ data }: Tensor) => (data as Embedding).slice() as Embedding,
      normalize: () => true,
      dimensions: () => undefined,
    });
  }
}
