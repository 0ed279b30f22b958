/** What the models of the page hear: in a recording, or live. */
import {
  joinSpeakers,
  TabServeError,
  type AudioChunk,
  type Client,
  type LiveText,
  type Sequence,
  type SpokenPart,
  type VoiceActivityUpdate,
} from '../../src/index.js';
import type { SpeakerDiarizer, SpeechToText, TranscribedText, VoiceActivityDetector } from '../../src/worker.js';

export interface Recognizer {
  readonly client: Client<SpeechToText>;
  readonly params: RecognizerParams;
}

/** A word, or a segment of a model without the times of words. */
export interface Word extends SpokenPart {
  readonly speaker?: string | undefined;
}

/** What a recognizer is asked for. */
export interface RecognizerParams {
  readonly timestamps?: 'word' | 'segment';
  readonly noSpeechThreshold?: number;
}

/** From the most exact times to none. Whisper writes words where nothing is said, unless it is told not to. */
const PARAMS: readonly RecognizerParams[] = [
  { timestamps: 'word', noSpeechThreshold: 0.6 },
  { timestamps: 'segment', noSpeechThreshold: 0.6 },
  {},
];

/**
 * Returns what a recognizer can be asked for: which times it has depends on its export. It hears a second of silence.
 * @throws what `predict` throws
 */
export async function paramsOf(
  client: Client<SpeechToText>,
  handler: string,
  signal: AbortSignal,
): Promise<RecognizerParams> {
  if (handler === 'speech_recognizer') return { timestamps: 'word' };
  for (const params of PARAMS) {
    try {
      await client.predict({ samples: new Float32Array(16_000), sampleRate: 16_000 }, { params, signal });
      return params;
    } catch (error) {
      const isRefused = error instanceof TabServeError && error.code === 'invalid-input';
      if (!isRefused || params === PARAMS.at(-1)) throw error;
    }
  }
  return {};
}

/**
 * Transcribes a recording.
 * @param heard is called with parts of the text, of models that write it in parts
 * @throws what the client's stream throws
 */
export async function transcribe(
  { client, params }: Recognizer,
  sound: Blob,
  signal: AbortSignal,
  heard: (part: string) => void,
): Promise<readonly Word[]> {
  for await (const part of client.stream(sound, { params, signal })) {
    if (typeof part === 'string') heard(part);
    else if ('text' in part) return spaced(part);
  }
  return [];
}

/** Says who speaks each word. */
export async function withSpeakers(
  words: readonly Word[],
  client: Client<SpeakerDiarizer>,
  sound: Blob,
  signal: AbortSignal,
): Promise<{ readonly words: readonly Word[]; readonly turns: readonly (Word & { readonly speaker: string })[] }> {
  const turns = (await client.predict(sound, { signal })).map((turn) => ({ ...turn, text: '' }));
  return {
    turns,
    words: words.map((word) => ({
      ...word,
      speaker: joinSpeakers({ text: word.text, parts: [word] }, turns)[0]?.speaker,
    })),
  };
}

/** Returns the words, each with the space before it: those of CTC models have none. */
function spaced({ text, parts }: TranscribedText): readonly Word[] {
  if (!parts) return [{ text, start: 0, end: 0 }];
  const isWhole = parts.map((part) => part.text).join('') === text;
  return isWhole ? parts : parts.map((part) => ({ ...part, text: ` ${part.text}` }));
}

interface LiveEvents {
  followed(update: VoiceActivityUpdate): void;
  heard(text: LiveText): void;
  failed(error: unknown): void;
}

/** Hears the microphone. Each model takes what has come since it last answered. */
export class LiveHearing {
  readonly #follows: Follower<VoiceActivityUpdate>;
  #writes: Follower<LiveText> | undefined;

  constructor(
    vad: Client<VoiceActivityDetector>,
    recognizer: Recognizer | undefined,
    threshold: () => number,
    { followed, heard, failed }: LiveEvents,
  ) {
    this.#follows = new Follower(vad.openSequence(), () => ({ threshold: threshold() }), followed, failed);
    if (!recognizer) return;
    const { client, params } = recognizer;
    const own = (finalize: boolean): object => ({ ...params, finalize });
    this.#writes = new Follower(client.openSequence(), own, heard, failed);
  }

  add(chunk: AudioChunk): void {
    this.#follows.add(chunk);
    this.#writes?.add(chunk);
  }

  /** Ends it: all words become final. */
  async end(): Promise<void> {
    await Promise.all([this.#follows.end(), this.#writes?.end()]);
  }

  /** Stops it without another answer. */
  stop(): void {
    this.#follows.stop();
    this.#writes?.stop();
  }
}

/** A sequence to which pieces come while it answers. */
class Follower<Result> {
  readonly #sequence: Sequence;
  readonly #paramsOf: (isLast: boolean) => object;
  readonly #answered: (result: Result) => void;
  readonly #failed: (error: unknown) => void;
  #waiting: AudioChunk[] = [];
  #run: Promise<void> | undefined;
  #stopped = false;
  #rate: number | undefined;

  constructor(
    sequence: Sequence,
    paramsOf: (isLast: boolean) => object,
    answered: (result: Result) => void,
    failed: (error: unknown) => void,
  ) {
    this.#sequence = sequence;
    this.#paramsOf = paramsOf;
    this.#answered = answered;
    this.#failed = failed;
  }

  add(chunk: AudioChunk): void {
    this.#waiting.push(chunk);
    this.#run ??= this.#ask().finally(() => (this.#run = undefined));
  }

  async end(): Promise<void> {
    await this.#run;
    await this.#send([], true);
    this.stop();
  }

  stop(): void {
    this.#stopped = true;
    void this.#sequence.end();
  }

  async #ask(): Promise<void> {
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0), false);
  }

  async #send(chunks: readonly AudioChunk[], isLast: boolean): Promise<void> {
    if (this.#stopped || (isLast && this.#rate === undefined)) return;
    // Of another microphone it may be another one, which the sequence refuses.
    const sampleRate = (this.#rate = chunks[0]?.sampleRate ?? this.#rate!);
    const samples = new Float32Array(chunks.reduce((sum, chunk) => sum + chunk.samples.length, 0));
    let at = 0;
    for (const chunk of chunks) {
      samples.set(chunk.samples, at);
      at += chunk.samples.length;
    }
    try {
      const result = await this.#sequence.predict({ samples, sampleRate }, { params: this.#paramsOf(isLast) as never });
      if (!this.#stopped) this.#answered(result as Result);
    } catch (error) {
      if (this.#stopped) return;
      this.stop();
      this.#failed(error);
    }
  }
}
