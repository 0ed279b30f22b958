// Patterns of tokenizers against Oniguruma, by Hugging Face's tokenizers in Python: `test/goldens/tokenizers/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { announceSteps } from '../../../../src/shared/limited-step.ts';
import { AlignedText } from '../../../../src/worker/text/encoding/aligned-text.ts';
import { limitMatching, toRegExp } from '../../../../src/worker/text/encoding/patterns.ts';

const { texts, patterns } = JSON.parse(
  readFileSync(new URL('../../../goldens/tokenizers/expected.json', import.meta.url), 'utf8'),
) as { readonly texts: readonly string[]; readonly patterns: Readonly<Record<string, readonly string[]>> };

for (const [pattern, expected] of Object.entries(patterns))
  test(`what a pattern finds: ${pattern}`, () => {
    const found = toRegExp({ Regex: pattern });
    expect(texts.map((text) => AlignedText.of(text).replace(found, '<$&>').text)).toEqual(expected);
  });

test('a pattern that is a text is matched as it is', () => {
  expect('a.b*c.b*'.replace(toRegExp({ String: '.b*' }), '-')).toBe('a-c-');
});

test('what is no pattern, or cannot be expressed, is refused', () => {
  const sources = ['(a', 'a)', '[a', '*', '[b-a]', '\\', '[]', String.raw`[\w-x]`, '(?i)a', '(?m:a)', String.raw`\R`];
  const others = [String.raw`\p{Klingon}`, '[[:klingon:]]', String.raw`(a)\1b++`, 7, null, undefined];
  for (const Regex of [...sources, ...others])
    expect(() => toRegExp({ Regex } as { Regex: string }), String(Regex)).toThrow(
      expect.objectContaining({ code: 'model-format', message: expect.stringContaining('tokenizer.json has ') }),
    );
  expect(() => toRegExp(null)).toThrow(expect.objectContaining({ code: 'model-format' }));
});

test('a tokenizer announces when it matches an expression, and when it has; a text is matched without', async () => {
  const announced: (string | undefined)[] = [];
  announceSteps((step) => announced.push(step?.name));
  try {
    for (const [pattern, name] of [
      [{ Regex: '[a-c]+' }, 'tokenizer.json: the pattern [a-c]+'],
      [{ String: 'a' }, undefined],
    ] as const) {
      const run = limitMatching([undefined, { type: 'Split', pattern, behavior: 'Isolated' }]);
      expect(run(() => 'b1'.replace(toRegExp(pattern), '-'))).toBe(name === undefined ? 'b1' : '-1');
      expect(announced.splice(0)).toEqual(name === undefined ? [] : [name, undefined]);
    }
    const both = limitMatching([{ pattern: { Regex: 'a' } }, { pretokenizers: [{ pattern: { Regex: 'b' } }] }]);
    const wrong = (): never => {
      throw new Error('wrong');
    };
    expect(() => both(wrong)).toThrow('wrong');
    expect(announced).toEqual(['tokenizer.json: one of the patterns a and b', undefined]);
  } finally {
    announceSteps(() => {});
  }
});
