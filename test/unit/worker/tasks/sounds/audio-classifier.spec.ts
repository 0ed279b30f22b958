// The scores are compared with transformers' in `test/browser/coverage.spec.ts`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { soundOf } from '../../../../models/tasks/sound.ts';
import { createTestContext, createTestHandler } from '../../../../../src/worker.ts';
import { AudioClassifier } from '../../../../../src/worker/tasks/sounds/audio-classifier.ts';
import { stubSession } from '../../../support/stub-session.ts';
import type { Classification } from '../../../../../src/worker/outputs/classification.ts';
import { openTask } from '../../handlers/task-models.ts';

const sound = (length: number) => ({ samples: soundOf(length), sampleRate: 16_000 });

for (const repository of ['sound-wav2-vec2', 'sound-ast', 'sound-whisper'])
  test(`${repository}: rows of a batch have the answers that each has alone, and bad ones fail alone`, async () => {
    await using model = await openTask(new AudioClassifier(), repository);
    const inputs = [sound(24_000), 'text', sound(9_600), sound(0)];
    const together = await model.ask(inputs);
    expect(together[1]).toMatchObject({ code: 'invalid-input' });
    expect(together[3]).toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(/0 samples at 16000 Hz/),
    });
    expect(together[0]).toEqual((await model.ask([inputs[0]]))[0]);
    expect(together[2]).toEqual((await model.ask([inputs[2]]))[0]);
    expect(together[0]).not.toEqual(together[2]);
  });

test('a model of one recording with scores of frames, as YAMNet, answers their means', async () => {
  const path = new URL('../../../../models/yamnet/expected.json', import.meta.url);
  const rows = JSON.parse(readFileSync(path, 'utf8')) as readonly {
    readonly sound: number;
    readonly scores: Readonly<Record<string, number>>;
  }[];
  const labels = Object.keys(rows[0]!.scores);
  const config = { labels, output: 'probabilities', multiLabel: true, threshold: 0 };
  await using model = await openTask(new AudioClassifier(), '../yamnet', config);
  const found = (await model.ask(rows.map((row) => sound(row.sound)))) as Classification[];
  for (const [index, { scores }] of rows.entries()) {
    const best = Object.entries(scores).toSorted(([, a], [, b]) => b - a);
    expect(found[index]).toEqual(best.map(([label, score]) => ({ label, score: expect.closeTo(score, 5) })));
  }
});

test('a model without a preprocessor_config.json reads samples, as many as it fixes', async () => {
  const lengths: number[] = [];
  const handler = await createTestHandler(AudioClassifier, {
    inputs: [{ name: 'samples', dtype: 'float32', dims: [1, 16_000] }],
    outputs: ({ samples }) => {
      lengths.push(samples!.dims[1]!);
      return { logits: [[0, Math.log(3)]] };
    },
    labels: ['noise', 'bird'],
  });
  const [answer, tooLong] = await handler.handle([sound(8_000), sound(16_001)], { params: { topK: 1 } });
  expect(answer).toEqual([{ label: 'bird', score: expect.closeTo(0.75, 6) }]);
  expect(tooLong).toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/16001 samples, and the model takes 16000/),
  });
  expect(lengths.at(-1)).toBe(16_000);
});

/** Opens a model with an input of some dims, by a preprocessor_config.json. */
async function open(extractor: unknown, dims: readonly (number | null)[]): Promise<void> {
  const session = stubSession(
    [{ name: 'input_values', dtype: 'float32', dims }],
    [{ name: 'logits', dtype: 'float32', dims: [null, 2] }],
    () => ({ logits: { dtype: 'float32', dims: [1, 2], data: new Float32Array(2) } }),
  );
  const files = { 'preprocessor_config.json': JSON.stringify(extractor) };
  await new AudioClassifier().initialize(createTestContext({ session, files }));
}

for (const [what, extractor, dims, message] of [
  ['unknown features', { feature_extractor_type: 'ClvpFeatureExtractor' }, [null, null], /is "ClvpFeatureExtractor"/],
  ['a rate that is none', { sampling_rate: '16 kHz' }, [null, null], /sampling_rate is "16 kHz"/],
  [
    'a spectrogram of another size',
    { feature_extractor_type: 'ASTFeatureExtractor', max_length: 100 },
    [null, 1024, 128],
    /\[rows, 100, 128\], as preprocessor_config\.json says; the model has the inputs "input_values" \[\?, 1024, 128\]/,
  ],
  ['a model of spectrograms, and samples', {}, [null, 80, 3000], /\[rows, samples\]/],
  ['no deviation', { feature_extractor_type: 'ASTFeatureExtractor', std: 0 }, [null, 1024, 128], /std is 0/],
  [
    'a huge spectrogram',
    { feature_extractor_type: 'ASTFeatureExtractor', max_length: 1e9 },
    [null, null, null],
    /max_length is 1000000000/,
  ],
] as const)
  test(`${what}: model-config`, async () => {
    await expect(open(extractor, dims)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(message),
    });
  });
