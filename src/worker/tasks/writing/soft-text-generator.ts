import type { Context } from '../../../contract/handler.js';
import type { Session, Tensor, Tensors } from '../../../contract/tensors.js';
import { invalidInput, TabServeError } from '../../../contract/errors.js';
import { readChat, takeMedia, type Chat, type Medium } from '../../../shared/chat.js';
import { listInfos } from '../../generation/decoder-interface.js';
import { SoftTokens, type SoftPicture } from '../../generation/soft-tokens.js';
import type { AnswerStep, GenerateTools, Prompt } from '../../generation/answer.js';
import type { ReadPicture } from './picture-reader.js';
import { TextGenerator, type TextGeneratorInput } from './text-generator.js';

/** A picture or a recording of a prompt. */
export interface SoftPart extends ReadPicture {
  /** The same for the same one alone. */
  readonly key: string;
}

interface SoftPrompt extends Prompt {
  readonly parts: readonly SoftPart[];
}

/** What a model perceives beside texts. */
export interface Sense {
  readonly medium: Medium;
  /** In words, for messages. */
  readonly one: string;
  readonly many: string;
  /** The encoder's file and node. */
  readonly node: string;
  /** The inputs that the encoder may have. */
  readonly inputs: readonly string[];
  /** The text that the chat template writes for one. */
  readonly placeholder: string;
  /** The token of which each becomes a vector. Default: the placeholder. */
  readonly token?: string;
}

/** What the handlers share that write about pictures or sound: an encoder makes vectors, which the decoder reads in place of tokens. */
export abstract class SoftTextGenerator extends TextGenerator {
  #sense!: Sense;
  #encoder!: Session;
  #vectors!: SoftTokens;
  #token!: number;

  /** Reads a picture or a recording. @throws `invalid-input` and its like, which fail the row */
  protected abstract read(given: unknown, index: number, context: Context): Promise<SoftPart>;

  /**
   * Opens the three models, and loads the tokenizer and the chat template.
   * @throws what `text_generator` throws; `model-config` for an encoder with inputs that nothing fills
   */
  protected async open(context: Context, sense: Sense): Promise<void> {
    this.#sense = sense;
    this.#encoder = await context.open(sense.node);
    checkEncoder(this.#encoder, sense);
    await super.initialize(context);
    const { one, placeholder, token: name = placeholder } = sense;
    const token = this.tokenizer.idOf(name);
    if (token === undefined || !this.embedder)
      throw new TabServeError(
        'model-config',
        token === undefined
          ? `The tokenizer has no token ${name}, which stands for ${one}.`
          : `The decoder reads tokens, and so no ${sense.many}: the handler text_generator runs it.`,
      );
    this.#token = token;
    this.#vectors = new SoftTokens(context.kept);
    this.embedder.pictures = { vectors: this.#vectors, token };
  }

  protected override async promptOf(input: TextGeneratorInput, index: number, context: Context): Promise<SoftPrompt> {
    if (typeof input !== 'object' || !('messages' in input))
      return this.#checked({ ...(await super.promptOf(input, index, context)), parts: [] });
    const { medium, many, placeholder } = this.#sense;
    let given: readonly unknown[] = [];
    const param = (name: string): never => this.param(name, index, context);
    const { text, answer } = await this.render(input as Chat, param, (chat) => {
      const taken = takeMedia(readChat(chat, medium), medium);
      given = taken.media;
      return taken.chat;
    });
    const parts: SoftPart[] = [];
    for (const one of given) {
      parts.push(await this.read(one, index, context));
      context.heartbeat();
    }
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    if (count >= this.contextLength)
      throw invalidInput(
        `The ${parts.length} ${many} have ${count} tokens, and the model's context has ${this.contextLength}, for prompt and answer together. Send fewer or smaller ones.`,
      );
    const [first = '', ...others] = text.split(placeholder);
    if (others.length !== parts.length)
      throw invalidInput(
        `The chat template writes ${others.length} ${many} (${placeholder}), and the messages have ${parts.length}. A text must not have ${placeholder} in it.`,
      );
    const whole = first + others.map((part, at) => parts[at]!.text + part).join('');
    return this.#checked({ ...this.promptOfText({ text: whole, answer }, param), parts });
  }

  /** @throws `invalid-input` if a text has the token in it that becomes a vector */
  #checked(prompt: SoftPrompt): SoftPrompt {
    const expected = prompt.parts.reduce((sum, { count }) => sum + count, 0);
    if (prompt.tokens.filter((token) => token === this.#token).length === expected) return prompt;
    throw invalidInput(
      `A text must not have ${this.tokenizer.tokenOf(this.#token)} in it: it stands for a part of ${this.#sense.one}.`,
    );
  }

  protected override async *generate(prompt: SoftPrompt, tools: GenerateTools): AsyncGenerator<AnswerStep> {
    const held: SoftPicture[] = [];
    try {
      for (const part of prompt.parts)
        held.push(await this.#vectors.hold(part, () => this.#encode(part, tools.signal)));
      const numbers = held.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at));
      let at = 0;
      const tokens = prompt.tokens.map((token) => (token === this.#token ? numbers[at++]! : token));
      const choose: GenerateTools['choose'] = (logits, settings, progress) => {
        // The rules know tokens alone.
        const written = [...prompt.tokens, ...progress.tokens.slice(tokens.length)];
        return tools.choose(logits, settings, { ...progress, tokens: written });
      };
      yield* super.generate({ ...prompt, tokens }, { ...tools, choose });
    } finally {
      for (const one of held) this.#vectors.release(one);
    }
  }

  /** Returns those inputs that the encoder has. */
  protected encoderFeeds(feeds: Tensors): Tensors {
    const known = new Set(this.#encoder.inputs.map(({ name }) => name));
    return Object.fromEntries(Object.entries(feeds).filter(([name]) => known.has(name)));
  }

  async #encode({ feeds, count }: SoftPart, signal: AbortSignal): Promise<Tensor> {
    const outputs = await this.#encoder.run(this.encoderFeeds(feeds), { signal });
    const [vectors] = Object.values(outputs);
    const rows = vectors!.dims.slice(0, -1).reduce((product, size) => product * size, 1);
    if (rows === count) return vectors!;
    const { node, one } = this.#sense;
    throw new TabServeError(
      'model-config',
      `${node} makes ${rows} vectors of ${one} that has ${count} tokens in the prompt: preprocessor_config.json or processor_config.json is another model's.`,
    );
  }
}

/** @throws `model-config` for inputs that nothing fills */
function checkEncoder({ inputs, outputs }: Session, { inputs: filled, many }: Sense): void {
  const others = inputs.filter(({ name }) => !filled.includes(name));
  if (others.length === 0 && outputs.length === 1 && inputs.length > 0) return;
  throw new TabServeError(
    'model-config',
    `The encoder of ${many} reads ${filled.map((name) => `"${name}"`).join(', ')}, or some of them, and returns one output. This one has the inputs ${listInfos(inputs)}, and the outputs ${listInfos(outputs)}. The handler text_generator runs its language model, for text only.`,
  );
}
