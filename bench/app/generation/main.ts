/**
 * The page's side of the section on generation, which `bench/generation.mjs` calls: the same prompts, one token after
 * another by the highest logit, by TabServe, by transformers.js, and by a loop written by hand.
 */
import { AutoModelForCausalLM, AutoTokenizer, env } from '@huggingface/transformers';
import { load } from '../../../src/index.ts';
import { openLoop } from './by-hand.ts';

export interface GenerationOptions {
  /** The folder of the model's repository, beside the page. */
  readonly model: string;
  readonly backend: 'wasm' | 'webgpu';
  readonly promptTokens: number;
  /** Of an answer. */
  readonly tokens: number;
  readonly warmUps: number;
  readonly rounds: number;
}

type Name = 'ours' | 'transformers' | 'byHand';

export interface Generations {
  /** Milliseconds of each round. */
  readonly first: Readonly<Record<Name, readonly number[]>>;
  /** Milliseconds a token, behind the first one, of each round. */
  readonly token: Readonly<Record<Name, readonly number[]>>;
}

const WORDS = ['the', 'sea', 'a', 'story', 'of', 'light', 'and', 'old', 'stones', 'that', 'sing'];

/** What an answer took, in milliseconds. */
interface Times {
  /** To the first token. */
  readonly first: number;
  /** For each token behind it. */
  readonly token: number;
}

async function measure(options: GenerationOptions): Promise<Generations> {
  const { model, backend, promptTokens, tokens, warmUps, rounds } = options;
  const [tokenizer, peer] = await openTransformers(model, backend);
  const client = await load(`/${model}/`, {
    handler: 'text_generator',
    backends: [`onnx/${backend}`],
    config: { engine: { threads: 1, dtype: 'fp32' } },
  });
  const byHand = await openLoop(`/${model}/onnx/model.onnx`, backend);
  const contenders: Readonly<Record<Name, (text: string, ids: readonly number[]) => Promise<Times>>> = {
    /** A part of a stream may have several tokens: so the first token is one answer, and a second one goes on behind it. */
    async ours(text, { length }) {
      const [first, all] = [clock(), clock()];
      const one = await client.predict(text, { params: { maxNewTokens: 1 } });
      const since = first();
      const { usage } = await client.predict(text, { params: { maxNewTokens: tokens } });
      if (one.usage.promptTokens !== length || one.usage.cachedTokens > length / 2)
        throw new Error(`Ours has not run its prompt of ${length} tokens: ${JSON.stringify(one.usage)}`);
      if (usage.cachedTokens < length - 1 || usage.completionTokens !== tokens)
        throw new Error(`Ours has done something else: ${JSON.stringify(usage)}`);
      return { first: since, token: (all() - since) / tokens };
    },
    async transformers(text) {
      const stamps = stampsOfTokens();
      const streamer = { put: stamps.add, end() {} };
      await peer.generate({ ...tokenizer(text), max_new_tokens: tokens, do_sample: false, streamer });
      // The prompt's tokens come first.
      return stamps.times(1);
    },
    async byHand(_, ids) {
      const stamps = stampsOfTokens();
      await byHand(ids, tokens, stamps.add);
      return stamps.times(0);
    },
  };
  const names = Object.keys(contenders) as Name[];
  const empty = (): Record<Name, number[]> => ({ ours: [], transformers: [], byHand: [] });
  const [first, token] = [empty(), empty()];
  for (let round = -warmUps; round < rounds; round++) {
    const text = promptOf(String(round + warmUps), promptTokens, tokenizer);
    const ids = Array.from(tokenizer(text).input_ids.data, Number);
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + warmUps + turn) % names.length]!;
      const times = await contenders[name](text, ids);
      if (round < 0) continue;
      first[name].push(times.first);
      token[name].push(times.token);
    }
  }
  await client.dispose();
  return { first, token };
}

/** Returns a clock that begins now: it says how many milliseconds have passed. */
function clock(): () => number {
  const since = performance.now();
  return () => performance.now() - since;
}

function stampsOfTokens() {
  const passed = clock();
  const stamps: number[] = [];
  return {
    add: (): void => void stamps.push(passed()),
    /** @param before how many stamps are not of tokens */
    times(before: number): Times {
      const own = stamps.slice(before);
      return { first: own[0]!, token: (own.at(-1)! - own[0]!) / (own.length - 1) };
    },
  };
}

export interface CrowdOptions extends Omit<GenerationOptions, 'backend' | 'promptTokens'> {
  /** How many answers are generated at once. */
  readonly answers: number;
}

/** Tokens a second of one answer and of several at once, by round. */
async function measureCrowd({ model, tokens, answers, warmUps, rounds }: CrowdOptions) {
  const client = await load(`/${model}/`, {
    handler: 'text_generator',
    backends: ['wasm'],
    maxWorkers: 1,
    config: { engine: { threads: 1, dtype: 'fp32' } },
  });
  const rates = { one: [] as number[], several: [] as number[] };
  const params = { maxNewTokens: tokens };
  const rate = async (count: number): Promise<number> => {
    const since = performance.now();
    await Promise.all(
      Array.from({ length: count }, (_, at) => client.predict(`${at} ${WORDS.join(' ')} ${since}`, { params })),
    );
    return (count * tokens * 1000) / (performance.now() - since);
  };
  for (let round = -warmUps; round < rounds; round++) {
    const [one, several] = [await rate(1), await rate(answers)];
    if (round < 0) continue;
    rates.one.push(one);
    rates.several.push(several);
  }
  await client.dispose();
  return rates;
}

/** The memory after each conversation: megabytes of the engine. */
async function measureMemory({ model, conversations }: { readonly model: string; readonly conversations: number }) {
  const client = await load(`/${model}/`, {
    handler: 'text_generator',
    backends: ['wasm'],
    config: { engine: { threads: 1, dtype: 'fp32' } },
  });
  const memory: number[] = [];
  for (let at = 0; at < conversations; at++) {
    let text = `${at} ${WORDS.join(' ')}`;
    for (let turn = 0; turn < 3; turn++)
      text += (await client.predict(text, { params: { maxNewTokens: 16 } })).text + ` ${WORDS.join(' ')}`;
    memory.push(Number(/MemoryUsed\S* ([\d.]+)/.exec(client.metrics.prometheus())?.[1]));
  }
  await client.dispose();
  return memory;
}

async function openTransformers(model: string, backend: 'wasm' | 'webgpu') {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = '/';
  env.useBrowserCache = false;
  const { wasm } = env.backends.onnx;
  wasm.wasmPaths = new URL('/ort/', location.href).href;
  wasm.numThreads = 1;
  wasm.proxy = false;
  return await Promise.all([
    AutoTokenizer.from_pretrained(model),
    AutoModelForCausalLM.from_pretrained(model, { device: backend, dtype: 'fp32' }),
  ]);
}

/** Returns a text of so many tokens. */
function promptOf(
  beginning: string,
  tokens: number,
  tokenizer: (text: string) => { readonly input_ids: { readonly data: ArrayLike<bigint> } },
): string {
  let text = beginning;
  for (let at = 0; tokenizer(text).input_ids.data.length < tokens; at++) text += ` ${WORDS[at % WORDS.length]}`;
  // Of a word that has several tokens, a part is left out.
  while (tokenizer(text).input_ids.data.length > tokens) text = text.slice(0, -1);
  return text;
}

Object.assign(globalThis, { generation: { measure, measureCrowd, measureMemory } });
