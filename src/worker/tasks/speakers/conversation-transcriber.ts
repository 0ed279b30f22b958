import type { AudioInput } from '../../../contract/audio.js';
import { PredictionError, TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind, NodeHandler, ResultKind } from '../../../contract/handler.js';
import type { HearingProgress } from '../../../contract/hearing-progress.js';
import type { SpokenDetails, SpokenText, SpokenTurn } from '../../../contract/spoken-text.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { joinSpeakers } from '../../../shared/spoken-turns.js';
import { openAudio } from '../../audio/read-audio.js';
import { loadHandler, type HandlerOf } from '../../handlers/registry.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import { CONVERSATION_TRANSCRIBER_SCHEMA } from './schemas.js';

/** The `params` of a conversation: of the recognizer, and of the diarizer. */
export interface ConversationTranscriberParams {
  /**
   * What language is spoken, as the recognizer takes it: such as en. Default: the recognizer's.
   * @minLength 1
   */
  readonly language?: string;
  /** What the text follows, such as names and terms as they are spelled, as the recognizer takes it. */
  readonly prompt?: string;
  /**
   * Whether each word is given to a speaker, or each segment: for an export of Whisper without cross attentions, which has
   * no times of words.
   * @default 'word'
   */
  readonly timestamps?: 'word' | 'segment';
  /**
   * How many people speak, if it is known.
   * @integer
   * @minimum 1
   */
  readonly numSpeakers?: number;
  /**
   * The least number of people. Default: 1.
   * @integer
   * @minimum 1
   */
  readonly minSpeakers?: number;
  /**
   * The largest number of people. Default: any.
   * @integer
   * @minimum 1
   */
  readonly maxSpeakers?: number;
}

/** What was said, and by whom. */
export interface Conversation extends SpokenText, SpokenDetails {
  readonly parts: NonNullable<SpokenDetails['parts']>;
  readonly turns: readonly SpokenTurn[];
}

const OF_RECOGNIZER = ['language', 'prompt', 'timestamps'] as const;
const OF_DIARIZER = ['numSpeakers', 'minSpeakers', 'maxSpeakers'] as const;

/**
 * Transcribes a conversation, and says who said what: the node `recognizer` is a model of `speech_to_text` or
 * `speech_recognizer`, and `diarizer` one of `speaker_diarizer`. A word belongs to the turn that it shares the most time
 * with, as `joinSpeakers` has it. What else the nodes take is in their configs.
 *
 * `client.stream` yields `{ done, total }`: how many of the two nodes have heard the recording, as 1.5 of 2.
 * @answer the recognizer's answer with `turns: [{ speaker, start, end, text }, …]`, in seconds; `parts` are the words
 */
export class ConversationTranscriber extends WorkflowHandler<AudioInput, Conversation> {
  declare readonly paramsType?: ConversationTranscriberParams;
  declare readonly partType?: HearingProgress;

  static override readonly takes: InputKind = 'audio';
  static override readonly makes: ResultKind = 'transcript';
  static override readonly schema: ConfigSchema = CONVERSATION_TRANSCRIBER_SCHEMA;

  /** Or one of `speech_recognizer`. */
  #recognizer!: NodeHandler<HandlerOf<'speech_to_text'>>;
  #diarizer!: NodeHandler<HandlerOf<'speaker_diarizer'>>;

  /** Opens the nodes. @throws what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#diarizer = await context.openHandler('diarizer', await loadHandler('speaker_diarizer'));
    this.#recognizer = await context.openHandler<HandlerOf<'speech_to_text'>>('recognizer');
  }

  /** Transcribes one recording after another. A row that fails, fails alone. */
  override async inference(
    recordings: readonly AudioInput[],
    context: Context,
  ): Promise<readonly (Conversation | undefined)[]> {
    const answers: (Conversation | undefined)[] = [];
    for (const [index, recording] of recordings.entries()) {
      try {
        answers[index] = await this.#transcribe(recording, index, context);
      } catch (error) {
        context.signal.throwIfAborted();
        context.fail(index, error);
        answers[index] = undefined;
      }
    }
    return answers;
  }

  async #transcribe(recording: AudioInput, index: number, context: Context): Promise<Conversation> {
    if (context.sequenceId(index) !== undefined)
      throw new TabServeError(
        'invalid-input',
        'Who speaks is found in a whole recording, and this is a piece of a sequence. Ask speech_to_text for live words, and this model for the whole recording.',
      );
    const { length, sampleRate } = await openAudio(recording);
    let sent: Promise<void> | undefined;
    /** @param before how many nodes have heard the recording. If the worker is lost, another one begins again. */
    const report = ({ done, total }: HearingProgress, before: number): void => {
      const progress: HearingProgress = { done: before + done / total, total: 2 };
      sent = context.send(index, progress, progress);
    };
    const turns = await first(
      this.#diarizer.handle([recording], context, {
        params: this.#params(OF_DIARIZER, index, context),
        onProgress: (progress) => report(progress, 0),
      }),
    );
    const spoken = await first(
      this.#recognizer.handle([recording], context, {
        params: this.#params(OF_RECOGNIZER, index, context),
        onProgress: (progress) => report(progress, 1),
      }),
    );
    await sent;
    if (!isSpoken(spoken))
      throw new TabServeError(
        'model-config',
        'The node "recognizer" transcribes no recordings: expected a model of speech_to_text or speech_recognizer. If it is one, name its handler: nodes: { recognizer: { archive: …, handler: speech_to_text } }.',
      );
    const { text, parts = [] } = spoken;
    return { duration: length / sampleRate, ...spoken, parts, turns: joinSpeakers({ text, parts }, turns) };
  }

  /** Returns the params of a node that are set. */
  #params(names: readonly string[], index: number, context: Context): object {
    const set = names.map((name) => [name, this.param<unknown>(name, index, context)] as const);
    return Object.fromEntries(set.filter(([, value]) => value !== undefined));
  }
}

/** Returns the only answer. @throws its error */
async function first<Answer>(answers: Promise<readonly (Answer | PredictionError)[]>): Promise<Answer> {
  const [answer] = await answers;
  if (answer instanceof PredictionError) throw answer;
  return answer!;
}

function isSpoken(answer: unknown): answer is SpokenText & SpokenDetails {
  return isPlainObject(answer) && typeof answer['text'] === 'string';
}
