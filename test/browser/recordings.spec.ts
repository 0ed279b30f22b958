/**
 * A language model that hears, from its repository's URL alone, against transformers in Python:
 * `test/models/sounds/voxtral.py`.
 */
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';
import { soundOf } from '../models/tasks/sound.ts';

const { voxtral: ROWS } = readGoldens<{
  readonly voxtral: readonly {
    readonly sounds: readonly number[];
    readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
    readonly text: string;
  }[];
}>('../models/sounds/expected.json');

test('a repository by its URL alone: recordings as samples and as AudioBuffer, in parts, beside texts', async ({
  open,
  backend,
}) => {
  test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
  const page = await open();
  const rows = (backend === 'wasm' ? ROWS : ROWS.slice(0, 1)).map(({ sounds, ...row }) => ({
    ...row,
    sounds: sounds.map((length) => [...soundOf(length)]),
  }));
  const seen = await page.evaluate(
    async ({ backend, rows }) => {
      const client = await window.tabserve.load<'audio_text_to_text'>('/test/models/sounds/voxtral/', {
        backends: [`onnx/${backend}`],
      });
      const answers: { parts: string; text: string }[] = [];
      for (const { sounds, messages } of rows) {
        const recordings = sounds.map((samples, at) => {
          if (at > 0) return { samples: Float32Array.from(samples), sampleRate: 16_000 };
          const buffer = new AudioBuffer({ length: samples.length, sampleRate: 16_000 });
          buffer.copyToChannel(Float32Array.from(samples), 0);
          return buffer;
        });
        let next = 0;
        const content = messages.map((message) => ({
          ...message,
          content: message.content.map((part) =>
            (part as { type: string }).type === 'audio' ? { ...part, audio: recordings[next++] } : part,
          ),
        }));
        let [parts, text] = ['', ''];
        for await (const item of client.stream({ messages: content } as never))
          if (typeof item === 'string') parts += item;
          else if ('text' in item) ({ text } = item);
        answers.push({ parts, text });
      }
      const { handler, takes } = await client.describe();
      await client.dispose();
      return { answers, handler, takes };
    },
    { backend, rows },
  );
  expect(seen).toMatchObject({ handler: 'audio_text_to_text', takes: 'audio-or-text' });
  expect(seen.answers).toEqual(rows.map(({ text }) => ({ parts: text, text })));
});
