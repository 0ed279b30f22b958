/** Tensors that runs keep, on a GPU and on WASM: what is read back of a language model, and what is freed when. */
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';
import type * as Pages from './pages/generation.ts';

// The page counts what classes of the browser do.
test.use({ reuseTab: false });

declare const generation: typeof Pages.generation;

test.skip(({ backend }) => !['webgpu', 'wasm'].includes(backend), 'other backends keep no tensors');

const expected = readGoldens<
  Record<string, { prompts: readonly { prompt: string; text: string; input_ids: readonly number[] }[] }>
>('../models/generation/expected.json');

/** The bytes of the logits for one token: the size of the vocabulary in the model's config.json, in float32. */
const LOGITS = 480 * 4;
const LOGITS_OF_T5 = 203 * 4;
/** Keys and values of one token: of two layers, each of 32 numbers in float32. */
const STATES = 2 * 2 * 32 * 4;

async function openPage(page: Page): Promise<void> {
  test.slow();
  await page.goto('/test/browser/pages/generation.html');
  await page.waitForFunction(() => 'generation' in window);
}

test.describe('on a GPU', () => {
  test.skip(({ backend }) => backend !== 'webgpu', 'only WebGPU has buffers that tensors can stay in');

  test('only the last logits are read back; a run that does not ask for tensors on the GPU gets plain data', async ({
    page,
  }) => {
    await openPage(page);
    const { prompt, text } = expected['llama']!.prompts[0]!;
    const found = await page.evaluate(async (asked) => {
      const { ask, sessions, dispose } = await generation.open('llama', { '': 'onnx/model.onnx' });
      const answers = [];
      for (const [own, params] of [
        [asked, { maxNewTokens: 3 }],
        // The same again, of which one token is left to run, and another one with the same beginning.
        [asked, { maxNewTokens: 1 }],
        [`${asked.slice(0, 12)} of it`, { maxNewTokens: 1 }],
      ] as const) {
        const before = generation.read();
        const { text, usage } = await ask(own, params);
        answers.push({ text, ...usage, read: generation.read() - before });
      }
      const live = generation.live();
      const [session] = sessions;
      const kept = generation.onGpu(await session!.run(generation.feeds(session!), { keep: true }));
      const plain = await session!.run(generation.feeds(session!));
      const code = (error: unknown): unknown => (error as { code?: unknown }).code;
      // The keys of two tokens without their values.
      const wrong = await session!.run(generation.feeds(session!, 2)).catch(code);
      const after = await session!.run(generation.feeds(session!)).catch(code);
      await dispose();
      return {
        answers,
        live,
        runs: { kept, onGpu: generation.onGpu(plain), logits: plain['logits']!.data.length, wrong, after },
        twice: generation.twice(),
      };
    }, prompt);
    const [first, second, third] = found.answers;
    expect(text.startsWith(first!.text)).toBe(true);
    expect(first).toMatchObject({ cachedTokens: 0, completionTokens: 3, read: 3 * LOGITS });
    // Once, the keys and values of a token are compared, beside two others.
    const compared = 2 * (LOGITS + STATES);
    expect(second).toMatchObject({ cachedTokens: first!.promptTokens - 1, read: LOGITS + compared });
    expect(third).toMatchObject({ read: LOGITS });
    expect(third!.cachedTokens).toBeGreaterThan(1);
    // The caches of the last requests: keys and values of two layers each.
    expect(found.live % 4).toBe(0);
    expect(found.live).toBeGreaterThan(0);
    expect(found.runs).toEqual({
      kept: expect.arrayContaining(['logits', 'present.0.key', 'present.1.value']),
      onGpu: [],
      // Of three tokens, the last one's.
      logits: 480,
      wrong: 'inference-failed',
      // What ran after a failure would have the feeds of the failed run.
      after: 'device-lost',
    });
    expect(found.twice).toBe(0);
  });

  test('nothing stays of twenty answers, of aborts at each stage, of errors and of a lost GPU @full', async ({
    page,
  }) => {
    await openPage(page);
    const found = await page.evaluate(async (asked) => {
      const code = (error: unknown): unknown => (error as { code?: unknown }).code;
      const opened = await generation.open('llama', { '': 'onnx/model.onnx' }, { maxStateBytes: 0 });
      const live: number[] = [];
      for (let index = 0; index < 20; index++) {
        await opened.ask(`${index} ${asked}`, { maxNewTokens: 1 });
        live.push(generation.live());
      }
      // Four at once share their runs: they are joined and parted on the GPU.
      const texts = [asked, 'one', 'two three', asked.slice(0, 12)];
      const alone = [];
      for (const text of texts) alone.push((await opened.ask(text, { maxNewTokens: 4 })).text);
      const together = await Promise.all(texts.map(async (text) => (await opened.ask(text, { maxNewTokens: 4 })).text));
      live.push(generation.live());
      const aborted: unknown[] = [];
      for (const runs of [0, 1, 2]) {
        aborted.push(await opened.ask(asked, { maxNewTokens: 4 }, runs).catch(code));
        live.push(generation.live());
      }
      opened.fail = true;
      const failed = await opened.ask(asked).catch(({ message }: Error) => message);
      live.push(generation.live());
      opened.fail = false;
      // Two at once, and the GPU is lost in the middle of them.
      const asking = [asked, 'two'].map((text) => opened.ask(text, { maxNewTokens: 200 }).catch(code));
      await opened.ask('three', { maxNewTokens: 1 });
      opened.lose();
      const lost = await Promise.all(asking);
      lost.push(await opened.ask(asked).catch(code));
      await opened.dispose();
      const { length: sessions } = opened.sessions;
      return {
        live,
        isAlike: `${together}` === `${alone}`,
        aborted,
        failed,
        lost,
        sessions,
        twice: generation.twice(),
      };
    }, expected['llama']!.prompts[0]!.prompt);
    expect(found).toEqual({
      live: Array.from({ length: 25 }, () => 0),
      isAlike: true,
      aborted: ['aborted', 'aborted', 'aborted'],
      failed: 'No token is chosen.',
      lost: ['device-lost', 'device-lost', 'device-lost'],
      sessions: 1,
      twice: 0,
    });
  });

  test('encoder and decoder: beams are reordered on the GPU, and nothing of them stays @full', async ({ page }) => {
    await openPage(page);
    const { prompt, text } = expected['t5']!.prompts[1]!;
    const found = await page.evaluate(async (asked) => {
      const models = { encoder: 'onnx/encoder_model.onnx', decoder: 'onnx/decoder_model_merged.onnx' };
      const { ask, sessions, dispose } = await generation.open('t5', models);
      const before = generation.read();
      const greedy = await ask(asked);
      const read = generation.read() - before;
      await ask(asked, { numBeams: 3, maxNewTokens: 4 });
      const live = [generation.live()];
      await sessions[0]!.run(generation.feeds(sessions[0]!), { keep: true });
      live.push(generation.live());
      await dispose();
      live.push(generation.live());
      return { greedy, read, live, sessions: sessions.length, twice: generation.twice() };
    }, prompt);
    // What a session has made is freed with it.
    const read = found.greedy.usage.completionTokens * LOGITS_OF_T5;
    expect(found).toMatchObject({ greedy: { text }, read, live: [0, 1, 0], sessions: 2, twice: 0 });
  });
});

test.describe('on WASM', () => {
  test.skip(({ backend }) => backend !== 'wasm', 'this is about the memory of WASM');

  test('keys and values of a step are freed by the next one, unless a later request begins as they do', async ({
    page,
  }) => {
    await openPage(page);
    const { prompt, text } = expected['llama']!.prompts[0]!;
    const found = await page.evaluate(async (asked) => {
      const code = (error: unknown): unknown => (error as { code?: unknown }).code;
      const models = { '': 'onnx/model.onnx' };
      const opened = await generation.onWasm('llama', models, { maxStateBytes: 0 });
      const kept: number[] = [];
      const texts = [asked, 'one', 'two three', asked.slice(0, 12)];
      const alone = [];
      for (const text of texts) {
        alone.push((await opened.ask(text, { maxNewTokens: 8 })).text);
        kept.push(generation.kept());
      }
      // They share their runs: they are joined and parted.
      const together = await Promise.all(texts.map(async (text) => (await opened.ask(text, { maxNewTokens: 8 })).text));
      kept.push(generation.kept());
      const aborted = await opened.ask(asked, { maxNewTokens: 4 }, 2).catch(code);
      kept.push(generation.kept());
      opened.fail = true;
      const failed = await opened.ask(asked).catch(({ message }: Error) => message);
      kept.push(generation.kept());
      await opened.dispose();
      const { ask, dispose } = await generation.onWasm('llama', models);
      const first = await ask(asked, { maxNewTokens: 8 });
      // The caches of two layers stay for this one, as a view, and for the next one.
      const second = await ask(`${asked.slice(0, 12)} of it`, { maxNewTokens: 8 });
      const again = await ask(asked, { maxNewTokens: 8 });
      const cached = generation.kept();
      await dispose();
      return { alone, together, aborted, failed, kept, first, second, again, cached };
    }, prompt);
    expect(text.startsWith(found.alone[0]!)).toBe(true);
    expect(found.together).toEqual(found.alone);
    expect(found).toMatchObject({ aborted: 'aborted', failed: 'No token is chosen.' });
    expect(found.kept).toEqual(found.kept.map(() => 0));
    expect(found.first.text).toBe(found.alone[0]);
    expect(found.second.usage.cachedTokens).toBeGreaterThan(1);
    expect(found.again).toMatchObject({
      text: found.alone[0],
      usage: { cachedTokens: found.first.usage.promptTokens - 1 },
    });
    expect(found.cached % 4).toBe(0);
    expect(found.cached).toBeGreaterThan(0);
  });

  test('encoder and decoder: nothing stays of beams', async ({ page }) => {
    await openPage(page);
    const { prompt, text } = expected['t5']!.prompts[1]!;
    const found = await page.evaluate(async (asked) => {
      const models = { encoder: 'onnx/encoder_model.onnx', decoder: 'onnx/decoder_model_merged.onnx' };
      const { ask, dispose } = await generation.onWasm('t5', models);
      const greedy = await ask(asked);
      const kept = [generation.kept()];
      const one = await ask(asked, { numBeams: 3, maxNewTokens: 4 });
      kept.push(generation.kept());
      const other = await ask(asked, { numBeams: 3, maxNewTokens: 4 });
      await dispose();
      return { greedy: greedy.text, kept, isSame: one.text === other.text };
    }, prompt);
    expect(found).toEqual({ greedy: text, kept: [0, 0], isSame: true });
  });
});
