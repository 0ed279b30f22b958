import type { Context, Medium } from '../../../contract/handler.js';
import type { Session, Tensor, Tensors } from '../../../contract/tensors.js';
import { invalidInput, TabServeError } from '../../../contract/errors.js';
import { readChat, takeMedia, type Chat, type TakenMedium } from '../../../shared/chat.js';
import { listInfos } from '../../generation/decoder-interface.js';
import { SoftTokens, type SoftPicture } from '../../generation/soft-tokens.js';
import type { AnswerStep, GenerateTools, Prompt } from '../../generation/answer.js';
import type { HearingLimits } from './hearing.js';
import type { Sense, SoftPart } from './sense.js';
import { TextGenerator, type TextGeneratorInput } from './text-generator.js';

/** A sense with its encoder, and the token of which each becomes a vector. */
interface OpenSense extends Sense {
  readonly encoder: Session;
  readonly tokenId: number;
}

/** A part of a prompt, and the sense that reads it. */
interface OwnPart extends SoftPart {
  readonly sense: OpenSense;
}

interface SoftPrompt extends Prompt {
  /** In the order of the prompt. A golden example has its tokens alone. */
  readonly parts?: readonly OwnPart[];
}

/** What the handlers share that write about pictures or sound: encoders make vectors, which the decoder reads in place of tokens. */
export abstract class SoftTextGenerator extends TextGenerator {
  #senses: readonly OpenSense[] = [];
  #vectors!: SoftTokens;

  /** What the messages may have besides texts. */
  get media(): readonly Medium[] {
    return this.#senses.map(({ medium }) => medium);
  }

  /** How long recordings may be. */
  protected get hearingLimits(): HearingLimits {
    const { maxDuration } = { ...this.defaults, ...this.config } as { readonly maxDuration: number };
    return { contextLength: this.contextLength, maxDuration };
  }

  /**
   * Opens the decoder, the table of tokens and the encoder of each sense, and loads the tokenizer and the chat template.
   * @throws what `text_generator` throws; `model-config` for an encoder with inputs that nothing fills
   */
  protected async open(context: Context, senses: readonly Sense[]): Promise<void> {
    const encoders: Session[] = [];
    for (const sense of senses) {
      const encoder = await context.open(sense.node);
      checkEncoder(encoder, sense);
      encoders.push(encoder);
    }
    this.defaultTemplate = senses.find(({ template }) => template !== undefined)?.template;
    await super.initialize(context);
    const { embedder } = this;
    if (!embedder)
      throw new TabServeError(
        'model-config',
        `The decoder reads tokens, and so no ${senses.map(({ many }) => many).join(' and no ')}: the handler text_generator runs it.`,
      );
    this.#senses = senses.map((sense, at) => ({ ...sense, encoder: encoders[at]!, tokenId: this.#tokenOf(sense) }));
    this.#vectors = new SoftTokens(context.kept);
    embedder.vectors = this.#vectors;
  }

  #tokenOf({ one, placeholder, token = placeholder }: Sense): number {
    const id = this.tokenizer.idOf(token);
    if (id !== undefined) return id;
    throw new TabServeError('model-config', `The tokenizer has no token ${token}, which stands for ${one}.`);
  }

  /** Returns inputs for one token, or of an encoder whose inputs have sizes of their own. */
  override example(context: Context, node?: string): Tensors | undefined {
    const sense = this.#senses.find((one) => one.node === node);
    if (!sense) return super.example(context, node);
    return sense.example && feedsOf(sense.encoder, sense.example());
  }

  protected override async promptOf(input: TextGeneratorInput, index: number, context: Context): Promise<SoftPrompt> {
    if (typeof input !== 'object' || !('messages' in input))
      return this.#checked(await super.promptOf(input, index, context));
    const { media } = this;
    let given: readonly TakenMedium[] = [];
    const param = (name: string): never => this.param(name, index, context);
    const { text, answer } = await this.render(input as Chat, param, (chat) => {
      const taken = takeMedia(readChat(chat, media));
      given = taken.media;
      return this.#senses.reduce((read, sense) => (sense.isInTexts ? withTexts(read, sense) : read), taken.chat);
    });
    const read: OwnPart[] = [];
    for (const { medium, value } of given) {
      const sense = this.#senses.find((one) => one.medium === medium)!;
      read.push({ ...(await sense.read(value, index, context)), sense });
      context.heartbeat();
    }
    this.#checkLength(read);
    const { texts, parts } = this.#placed(text, read);
    const whole = texts.map((one, at) => (parts[at - 1]?.text ?? '') + one).join('');
    return this.#checked({ ...this.promptOfText({ text: whole, answer }, param), parts });
  }

  /** @throws `invalid-input` if a conversation's pictures and recordings alone fill the context */
  #checkLength(parts: readonly OwnPart[]): void {
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    if (count < this.contextLength) return;
    const counted = this.#senses
      .map((sense) => [parts.filter((part) => part.sense === sense).length, sense.many] as const)
      .filter(([number]) => number > 0)
      .map(([number, many]) => `${number} ${many}`);
    throw invalidInput(
      `The ${counted.join(' and ')} have ${count} tokens, and the model's context has ${this.contextLength}, for prompt and answer together. Send fewer or smaller ones.`,
    );
  }

  /**
   * Divides the text of a conversation at the places of its pictures and recordings.
   * @throws `invalid-input` if the text has more or fewer places than there are
   */
  #placed(text: string, given: readonly OwnPart[]): { readonly texts: readonly string[]; readonly parts: OwnPart[] } {
    const escaped = this.#senses.map(({ placeholder }) => placeholder.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    const pieces = text.split(new RegExp(`(${escaped.join('|')})`));
    const [texts, places] = [0, 1].map((odd) => pieces.filter((_, at) => at % 2 === odd)) as [string[], string[]];
    const left = new Map(this.#senses.map((sense) => [sense.placeholder, given.filter((one) => one.sense === sense)]));
    for (const [placeholder, own] of left) {
      const written = places.filter((one) => one === placeholder).length;
      if (written === own.length) continue;
      const { many } = this.#senses.find((sense) => sense.placeholder === placeholder)!;
      throw invalidInput(
        `The chat template writes ${written} ${many} (${placeholder}), and the messages have ${own.length}. A text must not have ${placeholder} in it.`,
      );
    }
    return { texts, parts: places.map((placeholder) => left.get(placeholder)!.shift()!) };
  }

  /** @throws `invalid-input` if a text has a token in it that becomes a vector */
  #checked(prompt: SoftPrompt): SoftPrompt {
    const { parts = [] } = prompt;
    for (const sense of this.#senses) {
      const own = parts.filter((part) => part.sense === sense);
      const expected = own.reduce((sum, { count }) => sum + count, 0);
      if (prompt.tokens.filter((token) => token === sense.tokenId).length === expected) continue;
      throw invalidInput(
        `A text must not have ${this.tokenizer.tokenOf(sense.tokenId)} in it: it stands for a part of ${sense.one}.`,
      );
    }
    return prompt;
  }

  protected override async *generate(prompt: SoftPrompt, tools: GenerateTools): AsyncGenerator<AnswerStep> {
    const { parts = [] } = this.#checked(prompt);
    const held: SoftPicture[] = [];
    try {
      for (const part of parts) {
        const { key, count, grid, sense } = part;
        const source = { key: `${sense.medium} ${key}`, token: sense.tokenId, count, ...(grid && { grid }) };
        held.push(await this.#vectors.hold(source, () => encode(part, tools.signal)));
      }
      const numbers = held.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at));
      const soft = new Set(this.#senses.map(({ tokenId }) => tokenId));
      let at = 0;
      const tokens = prompt.tokens.map((token) => (soft.has(token) ? numbers[at++]! : token));
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
}

/** Returns a conversation whose pictures or recordings have a text, which stands where a template takes texts alone. */
function withTexts(chat: Chat, { medium, placeholder }: Sense): Chat {
  const messages = chat.messages.map((message) => {
    if (!Array.isArray(message.content)) return message;
    const content = (message.content as readonly { readonly type: string }[]).map((part) =>
      part.type === medium ? { ...part, text: placeholder } : part,
    );
    return { ...message, content };
  });
  return { ...chat, messages };
}

/** Returns those inputs that an encoder has. */
function feedsOf({ inputs }: Session, feeds: Tensors): Tensors {
  const known = new Set(inputs.map(({ name }) => name));
  return Object.fromEntries(Object.entries(feeds).filter(([name]) => known.has(name)));
}

async function encode({ feeds, count, sense }: OwnPart, signal: AbortSignal): Promise<Tensor> {
  const { encoder, node, one } = sense;
  const outputs = await encoder.run(feedsOf(encoder, feeds()), { signal });
  const [vectors] = Object.values(outputs);
  const rows = vectors!.dims.slice(0, -1).reduce((product, size) => product * size, 1);
  if (rows === count) return vectors!;
  throw new TabServeError(
    'model-config',
    `${node} makes ${rows} vectors of ${one} that has ${count} tokens in the prompt: preprocessor_config.json or processor_config.json is another model's.`,
  );
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
