// The scores are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { soundOf } from '../../../../models/tasks/sound.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { repeated } from '../../../../../src/worker/audio/decibel-mel.ts';
import { AudioClassifier } from '../../../../../src/worker/tasks/sounds/audio-classifier.ts';
import { ZeroShotAudioClassifier } from '../../../../../src/worker/tasks/sounds/zero-shot-audio-classifier.ts';
import { stubSession } from '../../../support/stub-session.ts';
import { openTask } from '../../handlers/task-models.ts';

const sound = (length: number) => ({ samples: soundOf(length), sampleRate: 16_000 });

test('rows of a batch have the answers that each has alone; a row without labels fails alone', async () => {
  await using model = await openTask(new ZeroShotAudioClassifier(), 'sounds-clap');
  const params = { labels: ['a cat', 'the sea'] };
  const inputs = [sound(24_000), sound(0), sound(9_600)];
  const together = await model.ask(inputs, params);
  expect(together[1]).toMatchObject({ code: 'invalid-input' });
  expect(together[0]).toEqual((await model.ask([inputs[0]], params))[0]);
  expect(together[2]).toEqual((await model.ask([inputs[2]], params))[0]);
  const [none] = await model.ask([inputs[0]]);
  expect(none).toMatchObject({ code: 'invalid-input', message: expect.stringMatching(/^labels: there are none/) });
});

test('of a sound that is longer than the window, the beginning is heard', async () => {
  await using model = await openTask(new ZeroShotAudioClassifier(), 'sounds-clap');
  const params = { labels: ['a cat', 'the sea'] };
  expect(await model.ask([sound(60_000)], params)).toEqual(await model.ask([sound(32_000)], params));
});

test('a shorter sound is repeated: whole times and silence, or up to the end', () => {
  const samples = Float32Array.of(1, 2, 3);
  expect([...repeated(samples, 8, false)]).toEqual([1, 2, 3, 1, 2, 3, 0, 0]);
  expect([...repeated(samples, 8, true)]).toEqual([1, 2, 3, 1, 2, 3, 1, 2]);
  expect([...repeated(samples, 2, false)]).toEqual([1, 2]);
});

test('models that fuse spectrograms are refused', async () => {
  const session = stubSession(
    [{ name: 'input_features', dtype: 'float32', dims: [null, 4, 1001, 64] }],
    [{ name: 'logits', dtype: 'float32', dims: [null, 2] }],
    () => ({ logits: { dtype: 'float32', dims: [1, 2], data: new Float32Array(2) } }),
  );
  const extractor = { feature_extractor_type: 'ClapFeatureExtractor', sampling_rate: 48_000, truncation: 'fusion' };
  const files = { 'preprocessor_config.json': JSON.stringify(extractor) };
  await expect(new AudioClassifier().initialize(createTestContext({ session, files }))).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/truncation is "fusion"; expected rand_trunc/),
  });
});
