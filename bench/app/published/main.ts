/**
 * The page's side of the section on published models, which `bench/published.mjs` calls: one contender opens one model,
 * and answers.
 */
import { AutoModelForCausalLM, AutoTokenizer, env, pipeline } from '@huggingface/transformers';
import { assess, load, type LiveText, type Sequence } from '../../../src/index.ts';
import { firstOfPhoto } from './photo.ts';
import { crowd, talk } from './turns.ts';

export interface PublishedOptions {
  /** The name of the repository. */
  readonly name: string;
  readonly kind: 'text' | 'speech' | 'vector';
  readonly dtype: 'fp32' | 'q8';
  readonly threads: number;
  /** Whether it caches files as it does by default. If not, it reads them from the server each time. */
  readonly isCached: boolean;
}

interface Answer {
  readonly text?: string | undefined;
  /** Of a text's prompt. */
  readonly promptTokens?: number | undefined;
}

/** Answers a prompt, a recording or a text. @param maxNewTokens of a generated answer: of a prompt's, also the least */
type Ask = (input: string | Float32Array, maxNewTokens?: number) => Promise<Answer>;

type Contender = (options: PublishedOptions) => Promise<Ask>;

const HANDLERS = { text: 'text_generator', speech: 'speech_to_text', vector: 'text_feature_extractor' } as const;

const contenders: Readonly<Record<'ours' | 'transformers', Contender>> = {
  async ours({ name, kind, dtype, threads, isCached }) {
    const cache = isCached ? {} : ({ cache: 'none' } as const);
    const options = { backends: ['wasm'], config: { engine: { threads, dtype } }, ...cache } as const;
    const client = await load(`/weights/${name}/`, { handler: HANDLERS[kind], ...options });
    if (client.backend!.threads !== threads || (client.backend!.precision ?? dtype) !== dtype)
      throw new Error(`Ours runs otherwise: ${JSON.stringify(client.backend)}`);
    if (kind === 'speech') openTalk = () => client.openSequence() as never;
    return async (input, maxNewTokens) => {
      const given = typeof input === 'string' ? input : { samples: input, sampleRate: 16_000 };
      const params = maxNewTokens ? { maxNewTokens, ...(kind === 'text' && { minNewTokens: maxNewTokens }) } : {};
      const answer: unknown = await client.predict(given as never, { params });
      const { text, usage } = answer as { text?: string; usage?: { promptTokens: number; cachedTokens: number } };
      if (usage && usage.cachedTokens > 0) throw new Error('Ours has not run its whole prompt.');
      return { text, promptTokens: usage?.promptTokens };
    };
  },
  async transformers({ name, kind, dtype, threads, isCached }) {
    env.allowRemoteModels = false;
    env.allowLocalModels = true;
    env.localModelPath = '/weights/';
    env.useBrowserCache = isCached;
    const { wasm } = env.backends.onnx;
    wasm.wasmPaths = new URL('/ort/', location.href).href;
    wasm.numThreads = threads;
    wasm.proxy = false;
    const options = { device: 'wasm', dtype } as const;
    if (kind === 'text') {
      const [tokenizer, model] = await Promise.all([
        AutoTokenizer.from_pretrained(name),
        AutoModelForCausalLM.from_pretrained(name, options),
      ]);
      return async (input, max_new_tokens = 1) => {
        const encoding = tokenizer(input as string);
        const promptTokens = encoding.input_ids.data.length;
        const tokens = { max_new_tokens, min_new_tokens: max_new_tokens };
        const found = await model.generate({ ...encoding, ...tokens, do_sample: false });
        const ids = Array.from((found as { data: ArrayLike<bigint> }).data, Number).slice(promptTokens);
        return { text: tokenizer.decode(ids, { skip_special_tokens: true }), promptTokens };
      };
    }
    if (kind === 'speech') {
      const transcribe = await pipeline('automatic-speech-recognition', name, options);
      return async (input, max_new_tokens) =>
        await transcribe(input as Float32Array, max_new_tokens ? { max_new_tokens } : {});
    }
    const embed = await pipeline('feature-extraction', name, options);
    return async (input) => {
      const { data } = await embed(input as string, { pooling: 'mean', normalize: true });
      return { text: String(data[0]?.toFixed(4)) };
    };
  },
};

let ask: Ask;
/** What opens a sequence of live sound: ours alone. */
let openTalk: (() => Sequence) | undefined;

/** Returns milliseconds. */
async function open(contender: 'ours' | 'transformers', options: PublishedOptions): Promise<number> {
  const since = performance.now();
  ask = await contenders[contender](options);
  return performance.now() - since;
}

/** How it says that a text has so many tokens: each of these words is one. */
const WORDS = ['the', 'sea', 'a', 'story', 'of', 'light', 'and', 'old', 'stones', 'that', 'sing'];

/** @param first the first word, so that no prompt begins as another one does */
function textOf(first: string, tokens: number): string {
  return [first, ...Array.from({ length: tokens - 1 }, (_, at) => WORDS[at % WORDS.length])].join(' ');
}

/** Milliseconds from a text to an answer. @param expected the tokens of the prompt that the contender must count */
async function answer(first: string, tokens: number, maxNewTokens?: number) {
  const text = textOf(first, tokens);
  const since = performance.now();
  const answered = await ask(text, maxNewTokens);
  const took = performance.now() - since;
  if (answered.promptTokens !== undefined && answered.promptTokens !== tokens)
    throw new Error(`The prompt has ${answered.promptTokens} tokens, not ${tokens}.`);
  return { took, text: answered.text };
}

/** Returns the samples of a recording of 16 bits and 16 kHz, whose header has 44 bytes. */
async function samplesOf(path: string): Promise<Float32Array> {
  const bytes = await (await fetch(path)).arrayBuffer();
  return Float32Array.from(new Int16Array(bytes.slice(44)), (value) => value / 32768);
}

/**
 * Gives a recording to a sequence as a microphone would: the talk goes on while the model hears.
 * @returns when a word was first shown, and when one was first final, in seconds since the talk began
 */
async function live(path: string) {
  const samples = await samplesOf(path);
  const sequence = openTalk!();
  let [shown, final]: (number | undefined)[] = [];
  for (let heard = 0, clock = 1; heard < samples.length && final === undefined;) {
    const end = Math.min(samples.length, Math.floor(clock * 16_000));
    const since = performance.now();
    const piece = { samples: samples.slice(heard, end), sampleRate: 16_000 };
    const params = { noSpeechThreshold: 0.6, finalize: end === samples.length } as never;
    const text = (await sequence.predict(piece, { params })) as unknown as LiveText;
    clock += (performance.now() - since) / 1000;
    if (text.final.text.trim() !== '') final = clock;
    if (text.final.text.trim() !== '' || text.interim.text.trim() !== '') shown ??= clock;
    heard = end;
    clock = Math.max(clock, end / 16_000 + 1.01);
  }
  await sequence.end();
  return { shown, final };
}

/** Milliseconds from a recording to its text. */
async function transcribe(path: string, maxNewTokens?: number) {
  const samples = await samplesOf(path);
  const since = performance.now();
  const { text } = await ask(samples, maxNewTokens);
  return { took: performance.now() - since, text };
}

/** The memory that `assess` says the model needs on WASM, in bytes. */
async function estimate({ name, kind, dtype }: PublishedOptions): Promise<number> {
  const { backends } = await assess(`/weights/${name}/`, {
    handler: HANDLERS[kind],
    backends: ['wasm'],
    config: { engine: { dtype } },
  });
  return backends[0]!.memory!;
}

Object.assign(globalThis, { published: { open, answer, transcribe, live, estimate, talk, crowd, firstOfPhoto } });
