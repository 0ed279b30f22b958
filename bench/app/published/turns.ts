/** What TabServe alone is asked: the turns of a conversation, and several answers at once. */
import { load, type Client } from '../../../src/index.ts';
import type { TextGenerator } from '../../../src/worker.ts';

interface Options {
  readonly name: string;
  readonly dtype: 'fp32' | 'q8';
  readonly threads: number;
}

const QUESTIONS = [
  'Tell me about the sea.',
  'Which animals live there?',
  'What do they eat?',
  'How deep is it?',
  'Who has been at its bottom?',
  'Why is it salty?',
  'Where do rivers end?',
  'Thank you. What did we talk about?',
];

async function opened({ name, dtype, threads }: Options): Promise<Client<TextGenerator>> {
  return await load(`/weights/${name}/`, {
    handler: 'text_generator',
    backends: ['wasm'],
    cache: 'none',
    maxWorkers: 1,
    config: { engine: { threads, dtype } },
  });
}

/**
 * Holds a conversation of eight turns.
 * @param tokens of an answer
 * @returns how many tokens ran that had run before, in all turns, and milliseconds to the first token of each turn
 */
export async function talk(options: Options, tokens: number) {
  const client = await opened(options);
  const messages: { readonly role: string; readonly content: string }[] = [];
  const first: number[] = [];
  let [again, known] = [0, 0];
  for (const content of QUESTIONS) {
    messages.push({ role: 'user', content });
    const since = performance.now();
    let wait: number | undefined;
    for await (const part of client.stream({ messages }, { params: { maxNewTokens: tokens, doSample: false } })) {
      wait ??= performance.now() - since;
      if (typeof part !== 'object' || !('usage' in part)) continue;
      const { promptTokens, cachedTokens, completionTokens } = part.usage;
      again += known - cachedTokens;
      // The last token of an answer has not run yet.
      known = promptTokens + completionTokens - 1;
      messages.push({ role: 'assistant', content: part.text });
    }
    first.push(wait!);
  }
  await client.dispose();
  return { again, first };
}

/** Tokens a second of one answer and of several at once, by round. The first round is not told. */
export async function crowd(options: Options, { answers, tokens, rounds }: Readonly<Record<string, number>>) {
  const client = await opened(options);
  const params = { maxNewTokens: tokens!, minNewTokens: tokens!, doSample: false };
  let asked = 0;
  const rate = async (count: number): Promise<number> => {
    const since = performance.now();
    await Promise.all(Array.from({ length: count }, () => client.predict(`${asked++} old stones`, { params })));
    return (count * tokens! * 1000) / (performance.now() - since);
  };
  const found: { readonly one: number; readonly several: number }[] = [];
  for (let round = 0; round <= rounds!; round++) found.push({ one: await rate(1), several: await rate(answers!) });
  await client.dispose();
  return found.slice(1);
}
