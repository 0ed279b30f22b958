// The Prompt API's object over a real model, and the built package.
import { expect, test } from '@playwright/test';

const root = new URL('../../', import.meta.url);
const dist = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(`dist/${path}`, root).href)) as Module;
const { load } = await dist<typeof import('../../src/node.ts')>('node.js');
const { languageModel } = await dist<typeof import('../../src/prompt-api.ts')>('prompt-api.js');

test('a conversation with a tool, a constraint, and usage that is that of the client', async () => {
  const model = languageModel((options) =>
    load(new URL('public/models/writer/', root), { handler: 'text_generator', ...options }),
  );
  try {
    const session = await model.create({ initialPrompts: [{ role: 'system', content: 'Once.' }], temperature: 0 });
    expect(session.contextWindow).toBe(512);
    // Whether the end of an answer is likely depends on the prompt.
    const answer = await session.prompt('Is it so? ', {
      responseConstraint: { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] },
      omitResponseConstraintInput: true,
    });
    expect(typeof (JSON.parse(answer) as { sure: unknown }).sure).toBe('boolean');
    const before = session.contextUsage;
    expect(before).toBeGreaterThan(0);
    expect(await session.measureContextUsage('More of it, please. ')).toBeGreaterThan(3);
    const clone = await session.clone();
    const reader = clone.promptStreaming('Tell me a tale. ').getReader();
    expect(typeof (await reader.read()).value).toBe('string');
    await reader.cancel();
    expect(clone.contextUsage).toBe(before);
  } finally {
    await model.dispose();
  }
});
