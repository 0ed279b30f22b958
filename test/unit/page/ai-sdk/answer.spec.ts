import { expect, test } from '@playwright/test';
import { Blocks, contentOf } from '../../../../src/page/ai-sdk/answer.ts';
import type { Generated } from '../../../../src/shared/generated-text.ts';

const call = { id: '1', name: 'add', arguments: { a: 1 } };
const written = { type: 'tool-call', toolCallId: '1', toolName: 'add', input: '{"a":1}' };

test('an answer that only calls tools has no text; one that says something, too, has both', () => {
  const content = (text: string, ...toolCalls: readonly (typeof call)[]): unknown =>
    contentOf({ text, toolCalls } as unknown as Generated);
  expect(content('', call)).toEqual([written]);
  expect(content('Let me add.', call)).toEqual([{ type: 'text', text: 'Let me add.' }, written]);
  expect(content('')).toEqual([{ type: 'text', text: '' }]);
});

test('parts of one kind are one block', () => {
  const blocks = new Blocks();
  const parts = ['a', 'b'].map((text) => ({ type: 'text', text }) as const);
  const types = [...parts, written as never, parts[0]!].flatMap((part) => blocks.add(part)).map(({ type }) => type);
  expect(types).toEqual([
    'text-start',
    'text-delta',
    'text-delta',
    'text-end',
    'tool-call',
    'text-start',
    'text-delta',
  ]);
  expect(blocks.end()).toEqual([{ type: 'text-end', id: '1' }]);
});
