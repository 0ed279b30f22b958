/**
 * Language models that hear, from their repositories' URLs alone, against transformers in Python: the scripts of
 * `test/models/sounds`.
 */
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';
import { soundOf } from '../models/tasks/sound.ts';

interface Row {
  readonly sounds: readonly number[];
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
  readonly text: string;
}

const EXPECTED = readGoldens<Readonly<Record<string, readonly Row[]>>>('../models/sounds/expected.json');

for (const model of Object.keys(EXPECTED))
  test(`${model} by its URL alone: recordings as samples and as AudioBuffer, in parts, beside texts${model === 'voxtral' ? '' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
    const page = await open();
    const rows = (backend === 'wasm' ? EXPECTED[model]! : EXPECTED[model]!.slice(0, 1)).map(({ sounds, ...row }) => ({
      ...row,
      sounds: sounds.map((length) => [...soundOf(length)]),
    }));
    const seen = await page.evaluate(
      async ({ backend, model, rows }) => {
        const client = await window.tabserve.load<'audio_text_to_text'>(`/test/models/sounds/${model}/`, {
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
        const { handler, takes, media } = await client.describe();
        await client.dispose();
        return { answers, handler, takes, media };
      },
      { backend, model, rows },
    );
    expect(seen).toMatchObject({ handler: 'audio_text_to_text', takes: 'audio-or-text', media: ['audio'] });
    expect(seen.answers).toEqual(rows.map(({ text }) => ({ parts: text, text })));
  });
