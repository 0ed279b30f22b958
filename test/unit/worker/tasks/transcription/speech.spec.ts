// What an answer of Whisper begins with, which tokens may follow, and how chunks are joined, against transformers:
// `test/goldens/speech/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { speechRules } from '../../../../../src/worker/tasks/transcription/rules.ts';
import { seam } from '../../../../../src/worker/tasks/transcription/seam.ts';
import { readStartFacts, startTokens, type SpeechTask } from '../../../../../src/worker/tasks/transcription/start.ts';
import { Transcript } from '../../../../../src/worker/tasks/transcription/transcript.ts';
import { heardWindow, settledCount } from '../../../../../src/worker/tasks/transcription/windows.ts';

function readGoldens<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../goldens/speech/${file}`, import.meta.url), 'utf8')) as T;
}

const rules = readGoldens<{
  readonly end: number;
  readonly begin: number;
  readonly suppress: readonly number[];
  readonly atBegin: readonly number[];
  readonly cases: readonly {
    readonly name: string;
    readonly prompt: readonly number[];
    readonly written: readonly number[];
    readonly times: boolean;
    readonly latest: number | null;
    readonly logits: readonly number[];
    readonly kept: readonly number[];
  }[];
}>('rules.json');

test('the tokens that may follow are those of transformers', () => {
  const { end, begin, suppress, atBegin } = rules;
  for (const { name, prompt, written, times, latest, logits, kept } of rules.cases) {
    const ruleOut = speechRules({
      suppressTokens: suppress,
      beginSuppressTokens: atBegin,
      times: times ? { begin, textEnd: end, mostAtBegin: latest ?? Infinity } : undefined,
    });
    const scores = Float32Array.from(logits);
    ruleOut(scores, { tokens: [...prompt, ...written], newTokens: written.length });
    const left = [...scores.keys()].filter((token) => scores[token] !== -Infinity);
    expect(left, name).toEqual(kept);
    expect(
      left.every((token) => scores[token] === Math.fround(logits[token]!)),
      name,
    ).toBe(true);
  }
});

const starts = readGoldens<
  readonly {
    readonly generation: Readonly<Record<string, unknown>>;
    readonly language?: string;
    readonly task?: SpeechTask;
    readonly times: boolean;
    readonly tokens: 'refused' | readonly (number | null)[];
  }[]
>('starts.json');

/** What an answer begins with by a `generation_config.json`; null stands for a language that is detected. */
function startOf(
  generation: Readonly<Record<string, unknown>>,
  language: string | undefined,
  task: SpeechTask | undefined,
  hasTimes: boolean,
) {
  const facts = readStartFacts({ startTokenId: 31, defaults: generation } as never, {});
  return startTokens(facts, { language, task, hasTimes }).map((token) => token ?? null);
}

test('an answer begins with the tokens of transformers', () => {
  for (const { generation, language, task, times, tokens } of starts) {
    const found = (): unknown => startOf(generation, language, task, times);
    const what = JSON.stringify({ generation, language, task, times });
    if (tokens === 'refused') expect(found, what).toThrow(expect.objectContaining({ code: 'invalid-input' }));
    else expect(found(), what).toEqual(tokens);
  }
});

const MULTILINGUAL = {
  lang_to_id: { '<|en|>': 32, '<|de|>': 33, '<|haw|>': 34, '<|bn|>': 37 },
  task_to_id: { transcribe: 35, translate: 36 },
  no_timestamps_token_id: 40,
};

test('a language is given by its code or its English name, in any case; another is refused with those that there are', () => {
  for (const language of ['de', 'DE', 'German', 'german', '<|de|>'])
    expect(startOf(MULTILINGUAL, language, undefined, false), language).toEqual([31, 33, 35, 40]);
  expect(startOf(MULTILINGUAL, 'Hawaiian', undefined, false)).toEqual([31, 34, 35, 40]);
  expect(startOf(MULTILINGUAL, 'bengali', undefined, false)).toEqual([31, 37, 35, 40]);
  for (const language of ['de-AT', 'de_CH', 'DE-latn-DE'])
    expect(startOf(MULTILINGUAL, language, undefined, false), language).toEqual([31, 33, 35, 40]);
  const spanish = { ...MULTILINGUAL, lang_to_id: { '<|es|>': 32, '<|my|>': 33 } };
  expect(startOf(spanish, 'Castilian', undefined, false)).toEqual([31, 32, 35, 40]);
  expect(startOf(spanish, 'Burmese', undefined, false)).toEqual([31, 33, 35, 40]);
  for (const language of ['de-AT', 'toString', 'x-es'])
    expect(() => startOf(spanish, language, undefined, false), language).toThrow('the model has no language');
  expect(() => startOf(MULTILINGUAL, 'klingon', undefined, false)).toThrow(
    'params.language: the model has no language "klingon". It has en, de, haw, bn.',
  );
});

test('what the files say and is no token or language is refused', () => {
  for (const [generation, message] of [
    [{ lang_to_id: ['en'] }, /lang_to_id is .*a mapping of names to tokens/],
    [{ lang_to_id: {} }, /lang_to_id is .*a mapping of names to tokens, or none/],
    [{ max_initial_timestamp_index: '50' }, /max_initial_timestamp_index is "50"/],
    [{ task_to_id: { transcribe: 'x' } }, /task_to_id is .*a mapping of names to tokens/],
    [{ language: 5 }, /language is 5; expected the code of a language/],
    [{ task: 'sing' }, /task is "sing"; expected transcribe or translate/],
    [{ forced_decoder_ids: [[2, 35]] }, /forced_decoder_ids is .*with the places 1, 2/],
    [{ no_timestamps_token_id: -1 }, /no_timestamps_token_id is -1; expected a token/],
  ] as const)
    expect(() => startOf(generation, undefined, undefined, false)).toThrow(message);
  expect(() => readStartFacts({ startTokenId: undefined, defaults: {} } as never, {})).toThrow(
    /decoder_start_token_id is missing/,
  );
});

test('as much of an answer counts as in transformers, and the next window starts there', () => {
  const cases =
    readGoldens<readonly { readonly tokens: readonly number[]; readonly count: number; readonly frames: number }[]>(
      'windows.json',
    );
  expect(cases.length).toBeGreaterThan(40);
  for (const { tokens, count, frames } of cases) {
    expect(heardWindow(tokens, rules.begin, 400), tokens.join()).toEqual({ count, frames });
    // What is settled while it is written counts in the end.
    for (let length = 0; length <= tokens.length; length++)
      expect(settledCount(tokens.slice(0, length), rules.begin)).toBeLessThanOrEqual(count);
  }
  expect(settledCount([1, 2, 3], rules.begin)).toBe(3);
  // A pair of zeros, which transformers would hear for ever.
  expect(heardWindow([rules.begin, rules.begin], rules.begin, 400)).toEqual({ count: 2, frames: 400 });
});

const transcripts = readGoldens<{
  readonly begin: number;
  readonly end: number;
  readonly step: number;
  readonly cases: readonly {
    readonly outputs: readonly {
      readonly tokens: readonly number[];
      readonly length: number;
      readonly left: number;
      readonly right: number;
    }[];
    readonly text: string;
    readonly parts: readonly { readonly text: string; readonly timestamp: readonly [number | null, number | null] }[];
  }[];
}>('transcripts.json');

test('chunks are joined to the text and the parts of transformers', () => {
  const { begin, end, step } = transcripts;
  const letters = (tokens: readonly number[]): string =>
    tokens.map((token) => String.fromCharCode(token < 26 ? 97 + token : 39 + token)).join('');
  for (const { outputs, text, parts } of transcripts.cases) {
    const transcript = new Transcript({ begin, step, isText: (token) => token < end, decode: letters });
    let settled: readonly number[] = [];
    for (const { tokens, ...times } of outputs) {
      transcript.add(tokens, times);
      // What was settled stays.
      expect(transcript.settled.slice(0, settled.length)).toEqual(settled);
      settled = [...transcript.settled];
    }
    transcript.end(1000);
    expect(letters(transcript.settled)).toBe(text);
    expect(transcript.parts.map((part) => part.text)).toEqual(parts.map((part) => part.text));
    for (const [at, { timestamp }] of parts.entries()) {
      const { start, end: stop } = transcript.parts[at]!;
      expect(start).toBe(timestamp[0] ?? transcript.parts[at - 1]?.end ?? 0);
      expect(stop).toBe(timestamp[1] ?? 1000);
    }
  }
});

test('a part that begins after the end of the recording ends where it begins', () => {
  const { begin, end, step } = transcripts;
  const transcript = new Transcript({ begin, step, isText: (token) => token < end, decode: () => 'a' });
  const second = Math.round(1 / step);
  transcript.add([begin + second, 1], { length: 30, left: 0, right: 0 });
  transcript.end(0.5);
  expect(transcript.parts).toMatchObject([{ start: 1, end: 1 }]);
});

test('what comes before a first time is settled, without a pair of times, too', () => {
  expect(settledCount([5, 6, 100, 7], 100)).toBe(2);
  expect(settledCount([100, 5, 103, 103, 6], 100)).toBe(4);
  expect(settledCount([5, 6], 100)).toBe(2);
});

test('texts that share nothing are joined whole', () => {
  expect(seam([1, 2, 3], [4, 5])).toEqual({ leftEnd: 3, rightStart: 0 });
  expect(seam([1, 2, 3, 4], [2, 3, 4, 5])).toEqual({ leftEnd: 2, rightStart: 1 });
  expect(seam([], [4])).toEqual({ leftEnd: 0, rightStart: 0 });
  // One token that is equal may be chance.
  expect(seam([1, 2, 3], [3, 4])).toEqual({ leftEnd: 3, rightStart: 0 });
});

test('of two places where all tokens are equal, the longer overlap counts; a larger share counts more than that', () => {
  // Calculated by hand with transformers' rule: the share of the equal tokens, and 1/10000 for each token of the overlap.
  // An overlap of 2 and one of 4 have a share of 1.
  expect(seam([1, 2, 1, 2], [1, 2, 1, 2])).toEqual({ leftEnd: 2, rightStart: 2 });
  // All of 2 tokens are equal, and 3 of 4.
  expect(seam([1, 2, 1, 2], [1, 2, 9, 2])).toEqual({ leftEnd: 3, rightStart: 1 });
  // 2 of 2 tokens are equal, but the right text begins earlier by one, which counts as one that is not.
  expect(seam([1, 2], [9, 1, 2, 8])).toEqual({ leftEnd: 1, rightStart: 2 });
});
