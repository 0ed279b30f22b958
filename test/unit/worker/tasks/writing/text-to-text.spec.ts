/**
 * Encoder–decoder models of real architectures with random weights, on ONNX Runtime under Node, against transformers in
 * Python: `test/models/generation/make.py`.
 */
import { expect, test } from '@playwright/test';
import type { TextToTextParams } from '../../../../../src/worker/generation/text-to-text-settings.ts';
import { proveHandlers } from '../../../../../src/worker/host/prove.ts';
import { GENERATION } from '../../generation/models.ts';
import { blobs, code, filesOf, model, open } from '../../generation/pair-models.ts';

const camelCase = (config: object): TextToTextParams =>
  Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value as unknown,
    ]),
  );
const close = (logits: Float32Array | undefined, expected: readonly number[]): void => {
  for (const [index, value] of expected.entries()) expect(Math.abs(logits![index]! - value)).toBeLessThan(1e-4);
};

for (const name of ['t5', 'bart', 'marian', 'nllb'])
  test(`${name}: the greedy answers of transformers, and its beams`, async () => {
    const { ask, spy, handlers } = await model(name);
    // A backend is proven with both models; there are no golden examples.
    expect(await proveHandlers(handlers.open)).toEqual({
      golden: 0,
      error: 0,
      suspicion: undefined,
    });
    for (const { prompt, input_ids, tokens, text, first_logits, last_logits, beams } of GENERATION[name]!.prompts) {
      const answer = await ask(prompt);
      expect(answer.prompt).toEqual(input_ids);
      expect(answer.tokens).toEqual(tokens);
      expect(answer.text).toBe(text);
      expect(answer.parts.join('')).toBe(text);
      expect(answer.usage).toEqual({
        promptTokens: input_ids.length,
        cachedTokens: 0,
        completionTokens: tokens.length,
      });
      close(spy.logits[0], first_logits);
      close(spy.logits.at(-1), last_logits);
      for (const { config, tokens: best, score } of beams!.filter(({ config: one }) => !('max_length' in one))) {
        const found = await ask(prompt, { ...camelCase(config), returnLogprobs: true });
        expect(found.tokens, JSON.stringify(config)).toEqual(best);
        expect(found.parts.join('')).toBe(found.text);
        expect(found.logprobs).toHaveLength(best.length);
        // Where no rule changes the model's probabilities, they are the score.
        if ('repetition_penalty' in config || !['t5', 'nllb'].includes(name)) continue;
        const sum = found.logprobs!.reduce((total, one) => total + one, 0);
        expect(sum / best.length ** Number(config['length_penalty'] ?? 1) / score).toBeCloseTo(1, 5);
      }
    }
  });

test('the files set beams and lengths: generation_config.json, and config.json where it is missing', async () => {
  const files = filesOf('marian');
  const { prompt, beams } = GENERATION['marian']!.prompts[0]!;
  const { config, tokens } = beams!.find(({ config: one }) => 'max_length' in one)!;
  const parsed = (path: string): object => JSON.parse(new TextDecoder().decode(files[path] as Uint8Array)) as object;
  const { max_new_tokens: _, ...generation } = parsed('generation_config.json') as { max_new_tokens?: number };
  const newer = await open(blobs({ ...files, 'generation_config.json': JSON.stringify({ ...generation, ...config }) }));
  expect((await newer.ask(prompt)).tokens).toEqual(tokens);
  const { 'generation_config.json': __, ...without } = files;
  const old = { ...parsed('config.json'), ...generation, ...config };
  const older = await open(blobs({ ...without, 'config.json': JSON.stringify(old) }));
  expect((await older.ask(prompt)).tokens).toEqual(tokens);
  expect([...newer.warnings, ...older.warnings]).toEqual([]);
});

test('languages: the codes of a tokenizer, before the text or after it', async () => {
  const { ask } = await model('nllb');
  const { translations, prompts } = GENERATION['nllb']!;
  for (const { prompt, input_ids, tokens, text, ...languages } of translations!) {
    const answer = await ask(prompt, languages);
    expect(answer).toMatchObject({ prompt: input_ids, tokens, text });
  }
  // Without codes, the language is the one that the files name, whatever was asked before.
  expect((await ask(prompts[0]!.prompt)).prompt).toEqual(prompts[0]!.input_ids);
  await expect(ask('one', { srcLang: 'eng_Latin' })).rejects.toThrow(code('invalid-input', 'Did you mean "eng_Latn"?'));
  await expect(ask('one', { tgtLang: 'xyz_Qaaa' })).rejects.toThrow(code('invalid-input', 'deu_Latn, eng_Latn'));
  const files = filesOf('nllb');
  const tokenizer = JSON.parse(new TextDecoder().decode(files['tokenizer.json'] as Uint8Array)) as {
    post_processor: { single: unknown[] };
  };
  // mBART has the code after the text, M2M100 writes codes with underscores; tokenizer_config.json may name another.
  const [language, ...others] = tokenizer.post_processor.single;
  tokenizer.post_processor.single = [...others, language];
  const suffix = JSON.stringify(tokenizer).replaceAll('deu_Latn', '__de__');
  const config = JSON.stringify({ src_lang: 'fra_Latn', tokenizer_class: 'M2M100Tokenizer' });
  const other = await open(blobs({ ...files, 'tokenizer.json': suffix, 'tokenizer_config.json': config }));
  const { prompt, input_ids: german } = translations!.find(({ srcLang }) => srcLang === 'deu_Latn')!;
  const { input_ids: french } = translations!.find(({ srcLang }) => srcLang === 'fra_Latn')!;
  const moved = ([first, ...rest]: readonly number[]): readonly number[] => [...rest, first!];
  expect((await other.ask(prompt, { srcLang: 'de' })).prompt).toEqual(moved(german));
  expect((await other.ask(prompt, { srcLang: '__de__' })).prompt).toEqual(moved(german));
  expect((await other.ask(prompt)).prompt).toEqual(moved(french));
  await expect(model('nllb', { handler: { srcLang: 'deu_Latin' } })).rejects.toThrow(code('model-config', 'deu_Latn'));
  const { ask: plain } = await model('t5');
  for (const params of [{ srcLang: 'de' }, { tgtLang: 'de' }])
    await expect(plain('one', params)).rejects.toThrow(code('invalid-input', 'no codes of languages'));
});

test('sampling: the seed decides; with beams it is refused, as are stop strings', async () => {
  const { ask } = await model('t5');
  const params = { doSample: true, topK: 0, maxNewTokens: 12 };
  const one = await ask('one two', { ...params, seed: 1 });
  expect((await ask('one two', { ...params, seed: 1 })).text).toBe(one.text);
  expect((await ask('one two', { ...params, seed: 2 })).text).not.toBe(one.text);
  const excluded = { doSample: true, stop: 'x', topLogprobs: 1 };
  for (const [name, value] of Object.entries(excluded))
    await expect(ask('one', { numBeams: 2, [name]: value })).rejects.toThrow(code('invalid-input', `params.${name}`));
  const { prompt, text } = GENERATION['t5']!.prompts[0]!;
  const stop = text.slice(3, 5);
  expect((await ask(prompt, { stop })).text).toBe(text.slice(0, text.indexOf(stop)));
});

test('what cannot be answered is a typed error', async () => {
  const { ask, spy } = await model('bart', { handler: { contextLength: 8 } });
  for (const text of ['', ' ']) await expect(ask(text)).rejects.toThrow(code('invalid-input', 'empty'));
  await expect(ask('one two three four five six')).rejects.toThrow(code('invalid-input', 'at most 8'));
  await expect(ask({ text: 'a', textPair: 'b' })).rejects.toThrow(code('invalid-input', 'textPair'));
  await expect(ask({ messages: [] })).rejects.toThrow(code('invalid-input', 'Expected a string'));
  await expect(ask('one', { numBeamGroups: 2 } as never)).rejects.toThrow(code('invalid-input', 'numBeamGroups'));
  await expect(ask('one', { numBeams: 0 })).rejects.toThrow(code('invalid-input', 'numBeams'));
  await expect(ask('one', { earlyStopping: 'soon' as never })).rejects.toThrow(code('invalid-input', 'earlyStopping'));
  await expect(ask('one', { forcedBosTokenId: 9999 })).rejects.toThrow(code('invalid-input', '9999'));
  // The answer, too, has the model's positions.
  expect((await ask('one', { maxNewTokens: 100 })).usage.completionTokens).toBeLessThanOrEqual(8);
  const aborter = new AbortController();
  const run = ask('one', { numBeams: 2 }, aborter.signal);
  aborter.abort();
  await expect(run).rejects.toThrow(code('aborted'));
  expect(spy.answers).toEqual([]);
});

test('an answer goes on behind each of its parts, in another worker; one of beams is not told twice', async () => {
  for (const params of [
    { maxNewTokens: 10 },
    // Without a seed: the parts have it. No draw ends the answer at once.
    { maxNewTokens: 10, minNewTokens: 10, doSample: true },
    { maxNewTokens: 10, numBeams: 2 },
  ]) {
    const { ask } = await model('t5');
    const whole = await ask('one two three', params);
    expect(whole.parts.join('')).toBe(whole.text);
    expect(whole.parts).not.toEqual([]);
    for (const [index, resume] of whole.resumes.entries()) {
      const after = await ask('one two three', params, undefined, structuredClone(resume));
      expect([after.text, after.tokens]).toEqual([whole.text, whole.tokens]);
      expect(after.parts).toEqual(whole.parts.slice(index + 1));
    }
  }
});
