import type { AudioInput } from '../../../contract/audio.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind, ResultKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { LivePiece, type LiveText } from '../../handlers/live-speech.js';
import { openAudio, recordingOf } from '../../audio/read-audio.js';
import { rowsOf } from '../../audio/live-samples.js';
import { speechChunks, type SpeechChunk } from '../../audio/speech-chunks.js';
import { NO_TOKEN } from '../../generation/generate.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import { readAlignment } from './alignment.js';
import { liveWords } from './live-words.js';
import { promptTokens } from './prompt.js';
import { ChunkWriter, type SpeechModel } from './chunk-writer.js';
import { readStartFacts, type HeardLanguage, type StartFacts } from './start.js';
import { readSpeechSettings, type SpeechParams, type SpeechSettings } from './settings.js';
import { SettledText } from './settled-text.js';
import { Transcript, type TranscriptOptions } from './transcript.js';
import { wordsOf } from './words.js';
import type { SpokenDetails } from '../../../contract/spoken-text.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import { Recordings } from '../../handlers/recordings.js';
import { EncoderDecoderHandler, type EncoderPrompt } from '../../handlers/encoder-decoder-handler.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import type { AnswerStep, GenerateTools, GeneratedAnswer, GeneratedText } from '../../generation/answer.js';
import { PREPROCESSOR, readJson } from '../../handlers/speech-files.js';
import { readSpeechInput, readsSound, type SpeechInput } from './speech-input.js';
import { SPEECH_TO_TEXT_SCHEMA } from './schemas.js';

/** The `params` of `speech_to_text`. Defaults are those of the repository's `generation_config.json`. */
export interface SpeechToTextParams extends SpeechParams {
  /**
   * Seconds: longer sound is divided into chunks of this length, which overlap by a third. Default, and the most:
   * the model's window, 30 for Whisper. Not for Moonshine.
   * @minimum 1
   */
  readonly chunkLength?: number;
  /**
   * For a piece of a sequence: whether all words become final, as at the end of the recording.
   * @default false
   */
  readonly finalize?: boolean;
}

/** What was said, as a text that was generated. */
export interface TranscribedText extends GeneratedText, SpokenDetails {}

/** Sound that is ready for the encoder. */
interface SpeechPrompt extends EncoderPrompt<SpeechSettings> {
  /** `feeds` are those of the first chunk. */
  readonly first: SpeechChunk;
  /** They are decoded when they are asked for. */
  readonly others: AsyncGenerator<SpeechChunk, undefined>;
  /** Whether there is something to hear: a piece of a sequence may have too little that is new. */
  readonly isHeard: boolean;
}

const NAME = 'speech_to_text';
const NO_TIMES = '<|notimestamps|>';
/** The maximum length of a live piece, for a model that hears any length. */
const MAX_LIVE_SECONDS = 30;

/**
 * Transcribes a recording with an encoder of audio and a decoder of text: Whisper and Moonshine. The texts are those of
 * transformers' pipeline `automatic-speech-recognition` with `num_beams=1`; for its default, set `numBeams: 5`.
 *
 * The model is two files, the nodes `encoder` and `decoder`. `preprocess` reads the sound. `inference` runs the
 * encoder, and then the decoder token by token, as `text_to_text` does; a streamed request (`client.stream`) gets the
 * text in parts. Moonshine hears a recording whole. Whisper hears a window of 30 seconds. Longer sound is divided into
 * chunks that overlap, as with the pipeline's `chunk_length_s`; what two of them have heard is written once, and a
 * stream gets a part after each of them. Without `language`, Whisper detects the language of each chunk. The last
 * part of the answer ends with the recording if Whisper writes no end for it. The times of words (`timestamps: 'word'`) are those of
 * the pipeline with `return_timestamps="word"`, for exports whose decoder returns its cross attentions; a word of a
 * language without spaces is a character.
 *
 * A request of a sequence is a piece of a live recording, of any length, and its answer says which words are final. Their
 * times are those of their segments, unless those of words are asked for.
 *
 * It reads `tokenizer.json`, `generation_config.json`, `preprocessor_config.json` and `config.json` of the repository.
 * @answer `{ text, finishReason, usage }`; with `timestamps` also `parts: [{ text, start, end }, …]`, in seconds, beside
 *   words also `segments`; of segments of Whisper also `avgLogprob`, `compressionRatio`, `noSpeechProb` and `temperature`; of a model of several languages `language`, and `languageProbability` if it was detected;
 *   streamed, the text in parts before it; in a sequence `{ final: { text, parts }, interim: { text, parts } }`
 */
export class SpeechToText extends EncoderDecoderHandler<AudioInput, SpeechSettings, SpeechPrompt> {
  declare readonly paramsType?: SpeechToTextParams;
  declare readonly sequenceResultType?: LiveText;
  declare readonly configType?: GenerationConfig & Pick<AudioHandlerConfig, 'maxDuration'>;

  static override readonly takes: InputKind = 'audio';
  static override readonly makes: ResultKind = 'transcript';

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['WhisperForConditionalGeneration', 'MoonshineForConditionalGeneration'],
    processor: 'tokenizer',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: [GENERATION_CONFIG, PREPROCESSOR, HF_CONFIG],
    handlerConfig(config) {
      const contextLength = contextLengthOf(config, ['max_target_positions', 'max_position_embeddings']);
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly schema: ConfigSchema = SPEECH_TO_TEXT_SCHEMA;

  #config!: Json;
  #input!: SpeechInput;
  #start: StartFacts | undefined;
  #writer!: ChunkWriter;
  /** The token of 0 seconds; those after it are later. Infinity if there is none. */
  #begin = Infinity;
  readonly #recordings = new Recordings();
  /** The pieces of sequences, by their rows. */
  readonly #pieces = new WeakMap<Context, Map<number, LivePiece>>();

  /**
   * Opens encoder and decoder, loads the tokenizer, and reads how sound becomes the encoder's input.
   * @throws `model-config` if they are no encoder of sound and decoder of texts, do not fit together, or the files say
   *   what cannot be done here; `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    const config = await readJson(context.files, HF_CONFIG, NAME);
    this.#config = config;
    await this.openModels(context, readsSound(config) ? 'sound' : 'spectrogram');
    const { encoder } = this;
    this.#input = await readSpeechInput(context.files, { handler: NAME, encoder, config, warn: context.warn });
    this.#begin = this.#beginOfTimes();
    const { chunkLength } = this.config as SpeechToTextParams;
    if (chunkLength !== undefined) this.#checkChunkLength(chunkLength, 'handler');
    if (this.facts.defaults['condition_on_prev_tokens'] === true)
      context.warn(
        `${GENERATION_CONFIG}: condition_on_prev_tokens would change answers in transformers, and has no effect here.`,
      );
    const isText = (token: number): boolean => this.#isText(token);
    const model = {
      encode: async (feeds, signal) => await encoder.run(feeds, signal),
      firstLogits: async (...given) => await this.firstLogits(...given),
      write: (...given) => this.write(...given),
      crossAttentions: async (...given) => await this.crossAttentions(...given),
      isText,
    } satisfies SpeechModel;
    this.#writer = new ChunkWriter(model, this.#input, this.#start!);
    this.initialized = true;
  }

  /** Returns the encoder's input for silence, or the decoder's for one token. */
  example(_context: Context, node?: string): Tensors | undefined {
    if (node !== 'encoder') return this.decoderExample();
    return this.#input.feeds(new Float32Array(this.#input.leastSamples));
  }

  protected override begin(context: Context): () => Promise<void> {
    return () => this.#recordings.close(context);
  }

  protected override async promptOf(input: AudioInput, index: number, context: Context): Promise<SpeechPrompt> {
    const isLive = context.sequenceId(index) !== undefined;
    const param = (name: string): never => this.param(name, index, context);
    // The sound of a sequence is cut by the times of segments.
    const times = isLive && this.#start?.noTimes !== undefined ? 'segment' : undefined;
    const settings = this.settingsOf((name) =>
      name === 'timestamps' ? ((param(name) ?? times) as never) : param(name),
    );
    this.checkBeams(settings);
    const { sampleRate, window, leastSamples } = this.#input;
    const seconds = param('chunkLength') as number | undefined;
    if (seconds !== undefined) this.#checkChunkLength(seconds, 'params');
    const length = (seconds ?? window) * sampleRate;
    const maxDuration = param('maxDuration') as number;
    const piece = isLive
      ? await LivePiece.read(input, context.state(index), {
          sampleRate,
          most: Math.min(length, MAX_LIVE_SECONDS * sampleRate),
          least: leastSamples,
          maxDuration,
          finalize: param('finalize'),
        })
      : undefined;
    const recording = piece ? recordingOf(piece.samples, sampleRate) : await openAudio(input);
    const limits = { sampleRate, least: leastSamples, maxDuration };
    const chunks = speechChunks(await this.#recordings.open(recording, index, context, limits), length, 1);
    const first = (await chunks.next()).value!;
    if (piece) rowsOf(this.#pieces, context).set(index, piece);
    const isHeard = !piece || first.end > 0;
    const feeds = isHeard ? this.#input.feeds(first.samples) : {};
    return { tokens: [], settings, first, others: chunks, feeds, isHeard };
  }

  protected override settingsOf(param: (name: string) => never): SpeechSettings {
    this.#start ??= readStartFacts(this.facts, this.#config);
    return readSpeechSettings(
      param,
      this.facts,
      this.#start,
      this.contextLength,
      (defaults) => readAlignment(defaults, this.#config, this.attentionLayers),
      (text) => promptTokens(text, this.tokenizer, this.contextLength, (token) => this.#isText(token)),
    );
  }

  /** Writes the text of each chunk, and joins them. */
  protected override async *generate(
    { settings, feeds, first, others, isHeard }: SpeechPrompt,
    tools: GenerateTools,
  ): AsyncGenerator<AnswerStep> {
    const { sampleRate } = this.#input;
    if (!isHeard) return;
    let [language, firstLanguage]: [HeardLanguage?, HeardLanguage?] = [];
    const { alignment } = settings;
    const transcript = this.#transcript(
      alignment && ((tokens) => wordsOf(tokens, language?.language, (ids) => this.tokenizer.decode(ids))),
    );
    const text = new SettledText(tools.begun);
    for (let chunk: SpeechChunk | undefined = first; chunk; chunk = (await others.next()).value) {
      const given = chunk === first ? feeds : this.#input.feeds(chunk.samples);
      const length = chunk.end - chunk.start;
      // What the next chunk hears, too, may change.
      const heard = yield* this.#writer.write(given, length, settings, tools, first.isLast ? text : undefined);
      const times = {
        length: length / sampleRate,
        left: chunk.from / sampleRate,
        right: Math.max(0, length - chunk.to) / sampleRate,
      };
      language = heard.language;
      firstLanguage ??= language;
      transcript.add(heard.tokens, times, heard);
      const duration = chunk.end / sampleRate;
      if (chunk.isLast) transcript.end(duration);
      const { parts, words } = transcript;
      const spoken = {
        duration,
        ...firstLanguage,
        ...(settings.hasTimes && (alignment ? { parts: words, segments: parts } : { parts })),
      };
      yield {
        ...NO_TOKEN,
        text: text.take(transcript.settled),
        spoken: chunk.isLast ? spoken : undefined,
        progress: chunk.progress,
      };
    }
  }

  override postprocess(
    outputs: readonly (GeneratedAnswer | undefined)[],
    context: Context,
  ): readonly TranscribedText[] {
    const pieces = this.#pieces.get(context);
    return super.postprocess(outputs, context).map((result, index) => {
      const answer = outputs[index];
      const piece = pieces?.get(index);
      if (!answer || !piece) return { ...result, ...answer?.spoken };
      const live = piece.answer(answer.spoken && liveWords(answer.text, answer.spoken));
      context.setState(index, live.state);
      // For a sequence, it is of another type: see `sequenceResultType`.
      return live.result as never;
    });
  }

  #isText(token: number): boolean {
    return token < this.#begin && this.tokenizer.detokenizer.pieceOf(token) !== undefined;
  }

  #transcript(wordsOf: TranscriptOptions['wordsOf']): Transcript {
    return new Transcript({
      wordsOf,
      begin: this.#begin,
      step: this.#input.step,
      isText: (token) => this.#isText(token),
      decode: (tokens) => this.tokenizer.decode(tokens),
    });
  }

  /** Returns the token of 0 seconds. @throws `model-config` if the files name two */
  #beginOfTimes(): number {
    const own = this.tokenizer.idOf(NO_TIMES);
    const { noTimes = own } = this.#start!;
    if (own === undefined || own === noTimes) return (noTimes ?? Infinity) + 1;
    throw new TabServeError(
      'model-config',
      `${GENERATION_CONFIG} has ${noTimes} as no_timestamps_token_id, and the tokenizer has "${NO_TIMES}" as ${own}: they are of two models.`,
    );
  }

  /** @throws `invalid-input`, or `model-config` for `handler`: of a longer chunk, the encoder would hear a part */
  #checkChunkLength(seconds: number, where: 'params' | 'handler'): void {
    const { window } = this.#input;
    const why =
      window === Infinity
        ? 'the model hears a recording whole. Leave it out, and pass long sound in parts.'
        : seconds > window &&
          `the model hears ${window} s at once, and ${seconds} s are more. Leave it out: longer sound is divided.`;
    if (!why) return;
    throw new TabServeError(where === 'params' ? 'invalid-input' : 'model-config', `${where}.chunkLength: ${why}`);
  }
}
