// From probabilities to speech, against silero-vad's rules in Python: test/models/vad/make.py.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import {
  findSpeech,
  followSpeech,
  SPEECH_START,
  type SpeechEvent,
} from '../../../../../src/worker/tasks/speech/speech.ts';

interface PythonRules {
  readonly threshold?: number;
  readonly neg_threshold?: number;
  readonly min_speech_duration_ms?: number;
  readonly max_speech_duration_s?: number;
  readonly min_silence_duration_ms?: number;
  readonly speech_pad_ms?: number;
}

interface Recording {
  readonly file: string;
  readonly length: number;
  readonly probabilities: readonly number[];
  readonly segments: readonly (PythonRules & { readonly segments: readonly (readonly [number, number])[] })[];
  readonly events: readonly (readonly ['start' | 'end', number])[];
}

const { recordings } = JSON.parse(
  readFileSync(new URL('../../../../models/vad/goldens.json', import.meta.url), 'utf8'),
) as {
  readonly recordings: readonly Recording[];
};

const WINDOWS = { size: 512, rate: 16_000 };

function rulesOf(rules: PythonRules): Parameters<typeof findSpeech>[2] {
  const { threshold = 0.5 } = rules;
  return {
    threshold,
    negThreshold: rules.neg_threshold ?? Math.max(threshold - 0.15, 0.01),
    minSpeechDurationMs: rules.min_speech_duration_ms ?? 250,
    maxSpeechDurationS: rules.max_speech_duration_s ?? Infinity,
    minSilenceDurationMs: rules.min_silence_duration_ms ?? 100,
    speechPadMs: rules.speech_pad_ms ?? 30,
  };
}

for (const { file, length, probabilities, segments, events } of recordings)
  test(`speech in ${file}`, () => {
    for (const { segments: expected, ...rules } of segments)
      expect(findSpeech(probabilities, length, rulesOf(rules), WINDOWS), JSON.stringify(rules)).toEqual(
        expected.map(([start, end]) => ({ start: start / 16_000, end: end / 16_000 })),
      );
    const heard: SpeechEvent[] = [];
    let progress = SPEECH_START;
    for (const probability of probabilities.slice(0, Math.floor(length / 512))) {
      const next = followSpeech(progress, probability, rulesOf({}), WINDOWS);
      progress = next.progress;
      if (next.event) heard.push(next.event);
    }
    expect(heard).toEqual(events.map(([type, sample]) => ({ type, time: sample / 16_000 })));
  });

test('the recordings have what the rules are about', () => {
  const all = recordings.flatMap(({ segments }) => segments.map((one) => one.segments.length));
  expect(Math.max(...all)).toBeGreaterThan(5);
  expect(recordings.flatMap(({ events }) => events).length).toBeGreaterThan(20);
});

// silero-vad goes on while `current − temp_end < min_silence_samples`: a silence of just this many samples ends speech.
test('a silence ends speech when it is as long as the rule says', () => {
  // Three windows of 32 ms.
  const rules = { ...rulesOf({}), minSilenceDurationMs: 96, speechPadMs: 0 };
  const speech = Array<number>(10).fill(1);
  const silence = (windows: number): number[] => [...speech, ...Array<number>(windows).fill(0), ...speech];
  const found = (probabilities: number[]) => findSpeech(probabilities, probabilities.length * 512, rules, WINDOWS);
  expect(found(silence(3))).toEqual([{ start: 0, end: 23 * 0.032 }]);
  expect(found(silence(4))).toEqual([
    { start: 0, end: 10 * 0.032 },
    { start: 14 * 0.032, end: 24 * 0.032 },
  ]);
  const heard = (probabilities: number[]): string[] => {
    let progress = SPEECH_START;
    return probabilities.flatMap((probability) => {
      const next = followSpeech(progress, probability, rules, WINDOWS);
      progress = next.progress;
      return next.event ? [next.event.type] : [];
    });
  };
  expect(heard(silence(3))).toEqual(['start']);
  expect(heard(silence(4))).toEqual(['start', 'end', 'start']);
});
