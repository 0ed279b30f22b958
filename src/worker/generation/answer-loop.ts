import type { Context } from '../../contract/handler.js';
import type { HuggingFaceTokenizer } from '../text/hugging-face.js';
import type { Detokenizer } from '../text/tokenizer.js';
import type { AnswerStep, GeneratedAnswer, GenerateTools, Prompt } from './answer.js';
import { AnswerWriter } from './answer-writer.js';
import type { Begun, GenerateOptions } from './generate.js';
import { GuidedAnswer } from './grammar/guided-answer.js';
import { Vocabulary } from './grammar/vocabulary.js';
import type { Settings } from './settings.js';
import { TextStreamer } from './text-streamer.js';
import { TokenTexts, type AnswerToken } from './token-texts.js';
import type { RankedToken } from './top-tokens.js';
import type { AnswerForm } from './tool-calls/answer-form.js';

/** What another worker needs to continue after a part of an answer. */
interface Resume extends Begun {
  /** Only of a sampled answer. */
  readonly seed: number | undefined;
  /** How many parts were sent, with this one. */
  readonly parts: number;
  /** What the ids of tool calls begin with. */
  readonly callId: string;
}

/** How the tokens of an answer come about. */
interface Model<Ready extends Prompt> {
  /** Runs the model on a prompt. */
  generate(prompt: Ready, tools: GenerateTools): AsyncIterable<AnswerStep>;
  /** Chooses the next token. */
  nextToken: GenerateOptions['choose'];
}

/** Writes answers: takes the tokens of a model one after the other, and makes text, reasoning and calls of tools. */
export class AnswerLoop {
  readonly #tokenizer: HuggingFaceTokenizer;
  /** Made when an answer first keeps to a grammar; by the special tokens that grammars write. */
  readonly #vocabularies = new Map<string, Vocabulary>();
  /** Made when an answer first tells its tokens. */
  #tokenTexts: TokenTexts | undefined;

  constructor(tokenizer: HuggingFaceTokenizer) {
    this.#tokenizer = tokenizer;
  }

  /**
   * Writes the answer to a row.
   * @param generate runs the model
   * @param nextToken chooses a token
   */
  async write<Own extends Settings, Ready extends Prompt<Own>>(
    given: Ready,
    index: number,
    context: Context,
    { generate, nextToken }: Model<Ready>,
  ): Promise<GeneratedAnswer> {
    const begun = context.resumed(index) as Resume | undefined;
    const prompt = begun ? withSeed(given, begun.seed) : given;
    const shown = this.#shown(prompt.answer);
    const guided = this.#guidedAnswer(prompt.settings, shown);
    const before = prompt.isContinued && !guided ? this.#lastOfText(prompt.tokens) : undefined;
    const detokenizer = guided?.detokenizer ?? showing(this.#tokenizer.detokenizer, shown);
    const streamer = new TextStreamer(detokenizer, prompt.settings.stop, before);
    const stopTokens = this.#specialTokens(prompt.settings.stop);
    let hasStopToken = false;
    const seed = prompt.settings.sampling?.seed;
    const [tokens, logprobs, written]: [number[], number[], number[]] = [[], [], []];
    const top: (readonly RankedToken[])[] = [];
    let cachedTokens = 0;
    let finishReason: GeneratedAnswer['finishReason'] = 'stop';
    let spoken: GeneratedAnswer['spoken'];
    const hasTop = prompt.settings.topLogprobs !== undefined;
    const toldTokens: AnswerToken[] = [];
    const newTokens = (): readonly AnswerToken[] => {
      const found = this.#answerTokens(written, logprobs, top, toldTokens.length);
      toldTokens.push(...found);
      return found;
    };
    const send = async (part: Parameters<Context['send']>[1], count: number): Promise<void> => {
      const begun = { tokens: Int32Array.from(written), logprobs: Float64Array.from(logprobs), top, seed };
      await context.send(index, part, { ...begun, parts: count, callId: writer.callId } satisfies Resume);
    };
    const writer = new AnswerWriter(prompt.answer?.reader?.(), begun, send, hasTop ? newTokens : undefined);
    const isStopped = (): boolean => hasStopToken || streamer.isStopped || guided?.isComplete === true;
    const choose: GenerateTools['choose'] = (logits, own, progress) => {
      guided?.mask(logits);
      return nextToken(logits, own, progress);
    };
    for await (const step of generate(prompt, { signal: context.signal, begun, choose })) {
      context.heartbeat(step.progress);
      tokens.push(...step.tokens);
      logprobs.push(...step.logprobs);
      top.push(...(step.top ?? []));
      if (step.finishReason === 'length') finishReason = 'length';
      ({ cachedTokens = cachedTokens, spoken = spoken } = step);
      for (const token of step.text) {
        hasStopToken = stopTokens.has(token);
        if (hasStopToken) break;
        guided?.add(token);
        written.push(token);
        await writer.add(streamer.add(token));
      }
      if (isStopped()) break;
    }
    await writer.add(streamer.end());
    if (isStopped()) finishReason = 'stop';
    await writer.end(finishReason === 'length');
    const { text, reasoning, toolCalls } = writer;
    if (finishReason === 'stop' && toolCalls.length > 0) finishReason = 'tool_calls';
    const promptTokens = prompt.tokens.length;
    if (hasTop) newTokens();
    const answerTokens = hasTop ? toldTokens : undefined;
    const answer = { text, reasoning, toolCalls, tokens, logprobs, answerTokens };
    return { ...answer, finishReason, promptTokens, cachedTokens, spoken };
  }

  /** Returns the special tokens that the marks of an answer consist of, by their ids. */
  #shown(answer: AnswerForm | undefined): ReadonlyMap<number, string> {
    const { idOf, detokenizer } = this.#tokenizer;
    const found = (answer?.tokens ?? []).map((token) => [idOf(token), token] as const);
    return new Map(
      found.filter((one): one is [number, string] => one[0] !== undefined && detokenizer.pieceOf(one[0]) === undefined),
    );
  }

  /** Returns the last token of a prompt that is text. The answer's own bytes would follow one that is a byte. */
  #lastOfText(tokens: readonly number[]): number | undefined {
    const { detokenizer } = this.#tokenizer;
    return tokens.findLast((token) => {
      const piece = detokenizer.pieceOf(token);
      return piece !== undefined && !detokenizer.isByte(piece);
    });
  }

  /** Returns those of some texts that are special tokens: they are in no text, so they are looked for as tokens. */
  #specialTokens(texts: readonly string[]): ReadonlySet<number> {
    const { idOf, detokenizer } = this.#tokenizer;
    const ids = texts.map((text) => idOf(text)).filter((id) => id !== undefined);
    return new Set(ids.filter((id) => detokenizer.pieceOf(id) === undefined));
  }

  /** Returns tokens with their texts, from a place on. */
  #answerTokens(
    tokens: readonly number[],
    logprobs: readonly number[],
    top: readonly (readonly RankedToken[])[],
    from: number,
  ): readonly AnswerToken[] {
    this.#tokenTexts ??= new TokenTexts(this.#tokenizer);
    const texts = this.#tokenTexts;
    return tokens.slice(from).map((token, offset) => {
      const at = from + offset;
      return { ...texts.of({ token, logprob: logprobs[at]! }), top: top[at]!.map(texts.of) };
    });
  }

  /** @param shown the special tokens that the grammar writes */
  #guidedAnswer({ grammar, eosTokenIds }: Settings, shown: ReadonlyMap<number, string>): GuidedAnswer | undefined {
    if (!grammar) return undefined;
    const key = [...shown.keys()].join();
    const vocabulary = this.#vocabularies.get(key) ?? new Vocabulary(this.#tokenizer.tokenBytes(shown));
    this.#vocabularies.set(key, vocabulary);
    return new GuidedAnswer(grammar, vocabulary, eosTokenIds);
  }
}

/** Returns a prompt whose answer is sampled with the random numbers of a seed. */
function withSeed<Ready extends Prompt>(prompt: Ready, seed: number | undefined): Ready {
  const { settings } = prompt;
  const { sampling } = settings;
  return sampling && seed !== undefined
    ? { ...prompt, settings: { ...settings, sampling: { ...sampling, seed } } }
    : prompt;
}

/** Returns a detokenizer for which some special tokens are text. */
function showing(detokenizer: Detokenizer, shown: ReadonlyMap<number, string>): Detokenizer {
  if (shown.size === 0) return detokenizer;
  return { ...detokenizer, pieceOf: (id) => shown.get(id) ?? detokenizer.pieceOf(id) };
}
