/** Writes the text of a chunk of sound, window by window. */
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { NO_TOKEN, type Step } from '../../generation/generate.js';

import type { GenerateTools } from '../../generation/answer.js';
import type { SegmentQuality } from '../../../contract/spoken-text.js';
import { freeTensors, useTensors } from '../../tensors/tensor-users.js';
import { alignTokens, type Alignment } from './alignment.js';
import { silenceOf } from './quality.js';
import type { SpeechSettings } from './settings.js';
import type { SettledText } from './settled-text.js';
import { FRAMES_PER_POSITION, type SpeechInput } from './speech-input.js';
import { detectLanguage, languageOf, type HeardLanguage, type StartFacts } from './start.js';
import { answerWindow } from './window-answer.js';
import { heardWindow, settledCount } from './windows.js';

/** What runs the model. The encoder's output stays, unless it says otherwise. */
export interface SpeechModel {
  encode(feeds: Tensors, signal: AbortSignal): Promise<Tensor>;
  /** Returns the logits after some first tokens. */
  firstLogits(hiddenStates: Tensor, tokens: readonly number[], signal: AbortSignal): Promise<Float32Array>;
  /** Writes an answer. The encoder's output is freed. */
  write(
    hiddenStates: Tensor,
    prompt: readonly number[],
    settings: SpeechSettings,
    tools: GenerateTools,
  ): AsyncIterable<Step>;
  crossAttentions(
    hiddenStates: Tensor,
    tokens: readonly number[],
    layers: readonly number[],
    signal: AbortSignal,
  ): Promise<readonly Tensor[]>;
  isText(token: number): boolean;
}

/** What was heard in a chunk. */
export interface HeardChunk {
  /** Of text and times. */
  readonly tokens: readonly number[];
  /** When each token was said, in seconds since the chunk's start, if words are asked for. */
  readonly ends: readonly number[] | undefined;
  /** Of each token's window. */
  readonly qualities: readonly (SegmentQuality | undefined)[];
  readonly language: HeardLanguage | undefined;
}

/** What the decoder begins with. */
interface Beginning {
  readonly start: readonly number[];
  readonly language: HeardLanguage | undefined;
}

export class ChunkWriter {
  readonly #model: SpeechModel;
  readonly #input: SpeechInput;
  readonly #facts: StartFacts;

  constructor(model: SpeechModel, input: SpeechInput, facts: StartFacts) {
    this.#model = model;
    this.#input = input;
    this.#facts = facts;
  }

  /**
   * Writes the text of a chunk. An answer that ends within its window is followed by that of the rest of the window.
   * @param feeds the encoder's inputs for the chunk
   * @param samples how many it has
   * @param text gets the tokens that no later one changes; without it, no token of the steps is text
   */
  async *write(
    feeds: Tensors,
    samples: number,
    settings: SpeechSettings,
    tools: GenerateTools,
    text: SettledText | undefined,
  ): AsyncGenerator<Step, HeardChunk> {
    const { frames, hop, step: seconds } = this.#input;
    const { alignment } = settings;
    const { signal } = tools;
    // Where generation_config.json names no times, those of the tokenizer end no segment.
    const begin = (this.#facts.noTimes ?? Infinity) + 1;
    const [heard, ends, qualities]: [number[], number[], (SegmentQuality | undefined)[]] = [[], [], []];
    const textOf = (tokens: readonly number[]): readonly number[] =>
      text?.take(tokens.filter((token) => this.#model.isText(token))) ?? [];
    let beginning: Beginning | undefined;
    for (let first = 0; first < frames;) {
      const hiddenStates = await this.#model.encode(this.#input.later(feeds, first), signal);
      try {
        beginning ??= await this.#beginningOf(hiddenStates, settings, signal);
        const start = [...settings.previous, ...beginning.start];
        const noSpeechProb = await this.#silenceIn(hiddenStates, settings, signal);
        const write = (own: SpeechSettings): AsyncIterable<Step> => {
          useTensors([hiddenStates]);
          return this.#model.write(hiddenStates, start, own, { ...tools, begun: undefined });
        };
        const answer = yield* answerWindow(write, settings, noSpeechProb, (own) =>
          textOf([...heard, ...own.slice(0, settledCount(own, begin))]),
        );
        if (!answer) break;
        const { tokens, fed, quality } = answer;
        const window = heardWindow(tokens, begin, frames - first);
        const own = tokens.slice(0, window.count);
        if (alignment) {
          const steps = Math.floor((Math.ceil(samples / hop) - first) / FRAMES_PER_POSITION);
          const times = await this.#timesOf(hiddenStates, [...start, ...fed], start.length, steps, alignment, signal);
          const offset = (first / FRAMES_PER_POSITION) * seconds;
          // The last token was not fed: it has the time of the one before.
          ends.push(...own.map((_, at) => offset + (times[Math.min(at, times.length - 1)] ?? 0)));
        }
        heard.push(...own);
        qualities.push(...own.map(() => quality));
        yield { ...NO_TOKEN, text: textOf(heard) };
        first += window.frames;
      } finally {
        freeTensors([hiddenStates]);
      }
    }
    return { tokens: heard, ends: alignment && ends, qualities, language: beginning?.language };
  }

  /** Returns the tokens that the decoder begins with. The language may have to be detected. */
  async #beginningOf(
    hiddenStates: Tensor,
    { start, startTokenId }: SpeechSettings,
    signal: AbortSignal,
  ): Promise<Beginning> {
    const isKnown = (token: number | undefined): token is number => token !== undefined;
    if (start.every(isKnown)) return { start, language: languageOf(start, this.#facts) };
    const logits = await this.#model.firstLogits(hiddenStates, [startTokenId], signal);
    const { token, language } = detectLanguage(logits, this.#facts);
    return { start: start.map((one) => one ?? token), language };
  }

  /** Returns the probability that nothing is said, if it is asked for. */
  async #silenceIn(
    hiddenStates: Tensor,
    { previous, startTokenId, returnRuledLogprobs }: SpeechSettings,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { noTimes } = this.#facts;
    if (noTimes === undefined || !returnRuledLogprobs) return undefined;
    return silenceOf(await this.#model.firstLogits(hiddenStates, [...previous, startTokenId], signal), noTimes);
  }

  /**
   * Returns when each token of an answer was said, in seconds since its window's start.
   * @param fed the tokens that the decoder has run on, of which `first` are the beginning
   * @param steps of sound in the window; below 0, of the silence after the sound
   */
  async #timesOf(
    hiddenStates: Tensor,
    fed: readonly number[],
    first: number,
    steps: number,
    alignment: Alignment,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    if (fed.length <= first) return [];
    const layers = [...new Set(alignment.heads.map(([layer]) => layer))];
    const outputs = await this.#model.crossAttentions(hiddenStates, fed, layers, signal);
    const all = outputs[0]!.dims[3]!;
    // As two slices in Python, which count what is below 0 from the end.
    const count = steps < 0 ? Math.max(0, all + 2 * steps) : Math.min(all, steps);
    const byLayer = new Map(layers.map((layer, at) => [layer, outputs[at]!] as const));
    return alignTokens(byLayer, alignment, first, count).map((step) => step * this.#input.step);
  }
}
