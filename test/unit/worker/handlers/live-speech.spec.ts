// The rule is LocalAgreement-2 of https://arxiv.org/abs/2307.14743, worked out by hand.
import { expect, test } from '@playwright/test';
import { LivePiece, type LiveOptions } from '../../../../src/worker/handlers/live-speech.ts';
import { agree, NO_WORDS, type HeardWord, type WordsState } from '../../../../src/worker/outputs/live-words.ts';

/** Words of a second each. @param text a `/` ends a segment */
function words(text: string): readonly HeardWord[] {
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word, at) => ({
      text: ` ${word.replace('/', '')}`,
      start: at,
      end: at + 1,
      endsSegment: word.endsWith('/'),
    }));
}

const texts = ({ final, interim }: WordsState): readonly string[] =>
  [final, interim].map((some) =>
    some
      .map(({ text }) => text)
      .join('')
      .trim(),
  );

for (const [what, hypotheses, final, interim] of [
  ['the first hypothesis makes no word final', ['we meet'], '', 'we meet'],
  ['what two agree on is final', ['we meet', 'we meet at noon'], 'we meet', 'at noon'],
  ['up to the first word that differs', ['we meet to', 'we meet two days'], 'we meet', 'two days'],
  [
    'a final word stays, whatever is heard later',
    ['we meet', 'we meet', 'he meets at', 'he meets at'],
    'we meet at',
    '',
  ],
  [
    'also where it is heard as two',
    ['we meet', 'we meet', 'we me et at noon', 'we me et at noon'],
    'we meet at noon',
    '',
  ],
  ['and where two are heard as one', ['we meet', 'we meet', 'wemeet at noon', 'wemeet at noon'], 'we meet at noon', ''],
  ['another case or sign is no new word', ['we meet', 'we meet', 'We meet, at'], 'we meet', 'at'],
  ['a sign alone is a word', ['- we', '- we'], '- we', ''],
  ['a sign after the final words is a new one', ['今 日', '今 日', '今 日 。 明', '今 日 。 明'], '今 日 。 明', ''],
  ['and one that is final is not', ['今 日 。', '今 日 。', '今 日 、 明', '今 日 、 明'], '今 日 。 明', ''],
  ['characters of two units', ['𠮷', '𠮷', '𠮷 a', '𠮷 a'], '𠮷 a', ''],
  ['nothing heard takes nothing back', ['we meet', 'we meet', ''], 'we meet', ''],
] as const)
  test(what, () => {
    const end = hypotheses.reduce<WordsState>((state, one) => agree(state, words(one)), NO_WORDS);
    expect(texts(end)).toEqual([final, interim]);
  });

const OPTIONS: LiveOptions = { sampleRate: 1000, most: 20_000, least: 400, maxDuration: 60, finalize: false };

/** A sequence whose recognizer hears `hypothesis` of the sound that is given to it. */
function live(options: Partial<LiveOptions> = {}) {
  let state: unknown;
  let final = '';
  return {
    /** @param hypothesis by the seconds since the beginning of what is heard again, and of the sequence */
    async hear(seconds: number, hypothesis: string, own: Partial<LiveOptions> = {}) {
      // The resampler keeps one sample back.
      const samples = new Float32Array(Math.round(seconds * 1000) + (state ? 0 : 1)).fill(0.1);
      const piece = await LivePiece.read({ samples, sampleRate: 1000 }, state, { ...OPTIONS, ...options, ...own });
      const heard = piece.samples.length / 1000;
      const { result, state: next } = piece.answer(heard > 0 ? words(hypothesis) : undefined);
      // As it crosses to the page and back.
      state = structuredClone(next);
      final += result.final.text;
      return { heard, fresh: result.final.text, interim: result.interim.text, parts: result.final.parts, final };
    },
  };
}

test('a piece is heard with the sound before it, once a second of it is new', async () => {
  const { hear } = live();
  expect(await hear(0.6, 'we')).toMatchObject({ heard: 0, fresh: '', interim: '' });
  expect(await hear(0.5, 'we')).toMatchObject({ heard: 1.1, fresh: '', interim: ' we' });
  expect(await hear(0.03, 'other')).toMatchObject({ heard: 0, fresh: '', interim: ' we' });
  expect(await hear(1, 'we meet')).toMatchObject({ heard: 2.13, fresh: ' we', interim: ' meet' });
});

test('finalize makes all words final, and the next ones begin anew', async () => {
  const { hear } = live();
  await hear(1, 'we');
  expect(await hear(0.2, 'we meet', { finalize: true })).toMatchObject({ heard: 1.2, fresh: ' we meet', interim: '' });
  const next = await hear(2, 'at noon');
  expect(next).toMatchObject({ heard: 2, interim: ' at noon' });
  // No sound is left: what was heard of it becomes final.
  const end = await hear(0, '', { finalize: true });
  expect(end).toMatchObject({ heard: 0, fresh: ' at noon', final: ' we meet at noon' });
  expect(end.parts.map(({ start }) => start)).toEqual([1.2, 2.2]);
});

test('long sound is cut at the end of the last final segment, and the times go on', async () => {
  const { hear } = live();
  await hear(11, 'a b c/ d e f/ g');
  expect(await hear(1, 'a b c/ d e f/ g h')).toMatchObject({ heard: 12, fresh: ' a b c d e f g', interim: ' h' });
  const next = await hear(1, 'g h i/');
  expect(next).toMatchObject({ heard: 13 - 6, fresh: ' h', interim: ' i' });
  expect(next.parts).toEqual([{ text: ' h', start: 7, end: 8 }]);
});

test('the last segment may be incomplete: nothing is cut at its end', async () => {
  const { hear } = live();
  await hear(11, 'a b c/');
  await hear(1, 'a b c/');
  expect(await hear(1, 'a b c/ d')).toMatchObject({ heard: 13, interim: ' d' });
});

test('a long pause is not heard again', async () => {
  const { hear } = live();
  await hear(11, 'a/');
  await hear(1, 'a/');
  await hear(1, 'a/');
  // Up to the hypothesis before the last one: 12 seconds.
  expect(await hear(1, 'b')).toMatchObject({ heard: 2, interim: ' b', final: ' a' });
});

test('sound that cannot be cut is at most as long as the model hears', async () => {
  const { hear } = live();
  await hear(19, 'a b/ c');
  const end = await hear(2, 'x y/ z');
  expect(end).toMatchObject({ heard: 21, fresh: ' x y', interim: ' z' });
  expect(await hear(1, 'z')).toMatchObject({ heard: 22 - 2, fresh: ' z' });
  const one = live();
  await one.hear(19, 'a');
  expect(await one.hear(2, 'b')).toMatchObject({ heard: 21, fresh: ' b', interim: '' });
  expect(await one.hear(1, 'c')).toMatchObject({ heard: 1, interim: ' c' });
});

test('of a long piece, no more is heard again than the model hears', async () => {
  const { hear } = live();
  const said = Array.from({ length: 59 }, (_, at) => `w${at}/`);
  await hear(9, said.slice(0, 9).join(' '));
  // The first 9 words are heard twice. The next ones are final, too: their sound is not heard again.
  const long = await hear(50, said.join(' '));
  expect(long).toMatchObject({ heard: 59, interim: ' w58' });
  expect(await hear(1, 'w58 w59')).toMatchObject({ heard: 2, fresh: ' w58', interim: ' w59' });
});

test('a piece of another sample rate is refused', async () => {
  const samples = new Float32Array(2000);
  const first = await LivePiece.read({ samples, sampleRate: 1000 }, undefined, OPTIONS);
  const { state } = first.answer([]);
  await expect(LivePiece.read({ samples, sampleRate: 2000 }, state, OPTIONS)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('Open a sequence for each recording'),
  });
});
