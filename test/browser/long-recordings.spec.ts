/** What an hour of sound takes: decoded and heard as far as the handler has come. */
import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { expect, test } from './fixtures.ts';
import { processMemory } from './process-memory.ts';

// The memory is that of a browser's processes since they began.
test.use({ reuseTab: false });

const RATE = 16_000;
const MINUTE = 60;
const HOUR = 3600;
/**
 * How much more an hour may take than a minute. Whoever held its samples would take 230 MB, of which 100 are less than what a
 * tab takes at most while it starts.
 */
const MOST = 100e6;
/** Seconds of the frames of `tone.mp3`, which can be played one after another as often as one likes. */
const TONE = (28 * 1152) / 44_100;

/** Writes a file of many equal parts. */
async function repeat(path: string, beginning: Uint8Array, part: Uint8Array, count: number): Promise<void> {
  const file = createWriteStream(path);
  file.write(beginning);
  for (let at = 0; at < count; at++) if (!file.write(part)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}

/** The header of a WAV file of 16 bits with one channel. */
function header(samples: number): Uint8Array {
  const bytes = Buffer.alloc(44);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + 2 * samples, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(RATE, 24);
  bytes.writeUInt32LE(2 * RATE, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(2 * samples, 40);
  return bytes;
}

const second = new Uint8Array(Int16Array.from({ length: RATE }, (_, at) => 8000 * Math.sin(at / 9)).buffer);
/** The file's frames, without the first one, which describes them: 0xfff and the same version, layer, bit rate and rate. */
const frames = (() => {
  const bytes = readFileSync('test/goldens/sounds/tone.mp3');
  const first = bytes.indexOf(Uint8Array.of(0xff, 0xfb));
  const [, , rates] = bytes.subarray(first);
  const next = bytes.findIndex(
    (byte, at) => at > first + 4 && byte === 0xff && bytes[at + 1] === 0xfb && bytes[at + 2]! >>> 2 === rates! >>> 2,
  );
  return bytes.subarray(next);
})();

for (const [format, write] of [
  ['WAV', (path, seconds) => repeat(path, header(seconds * RATE), second, seconds)],
  ['MP3', (path, seconds) => repeat(path, new Uint8Array(0), frames, Math.floor(seconds / TONE))],
] as readonly (readonly [string, (path: string, seconds: number) => Promise<void>])[])
  test(`an hour of ${format} takes the memory of a minute @once @full`, async ({ open, browser }, info) => {
    test.setTimeout(600_000);
    const page = await open();
    await page.evaluate(() => document.body.append(Object.assign(document.createElement('input'), { type: 'file' })));
    const peaks: number[] = [];
    for (const seconds of [MINUTE, HOUR]) {
      const path = info.outputPath(`${seconds}.${format}`);
      await write(path, seconds);
      await page.locator('input[type=file]').setInputFiles(path);
      const duration = await page.evaluate(async () => {
        const client = await window.tabserve.load('/test/models/tasks/write-whisper/', {
          handler: 'speech_to_text',
          backends: ['onnx/wasm'],
        });
        const file = document.querySelector<HTMLInputElement>('input[type=file]')!.files![0]!;
        const params = { language: 'en', maxNewTokens: 1 } as const;
        const { duration } = await client.predict(file, { params, timeout: 600_000 });
        await client.dispose();
        return duration!;
      });
      expect(Math.abs(duration / seconds - 1)).toBeLessThan(0.02);
      peaks.push(await processMemory(browser, 'peak'));
    }
    expect(peaks[1]! - peaks[0]!, `peaks of ${peaks.join(' and ')} bytes`).toBeLessThan(MOST);
  });

/** Handlers, their archives, and how many windows they hear in an hour. */
for (const [handler, archive, total] of [
  ['speech_recognizer', '/test/models/tasks/speech-wav2vec2/', 180],
  ['voice_activity_detector', '/models/vad/', Math.ceil((HOUR * RATE) / 512)],
  // Windows of ten seconds, one each second, each heard twice: who speaks, and the voices, of three people in each.
  ['speaker_diarizer', '/test/models/tasks/diarize-voices/', 2 * 3591],
  ['conversation_transcriber', '/test/models/tasks/converse-wav2vec2/', 2],
] as const)
  test(`${handler}: an hour takes the memory of a minute @once @full`, async ({ open, browser }, info) => {
    test.setTimeout(900_000);
    const page = await open();
    await page.evaluate(() => document.body.append(Object.assign(document.createElement('input'), { type: 'file' })));
    const peaks: number[] = [];
    for (const seconds of [MINUTE, HOUR]) {
      const path = info.outputPath(`${seconds}.wav`);
      await repeat(path, header(seconds * RATE), second, seconds);
      await page.locator('input[type=file]').setInputFiles(path);
      const last = await page.evaluate(
        async ({ handler, archive }) => {
          const client = await window.tabserve.load(archive, { handler, backends: ['onnx/wasm'] } as never);
          const file = document.querySelector<HTMLInputElement>('input[type=file]')!.files![0]!;
          let last: unknown;
          for await (const part of client.stream(file as never, { timeout: 900_000 }) as AsyncIterable<object>)
            if ('done' in part) last = part;
          await client.dispose();
          return last;
        },
        { handler, archive },
      );
      // The last second of voices is in the answer.
      if (seconds === HOUR) expect(last).toEqual({ done: expect.closeTo(total, -2), total });
      peaks.push(await processMemory(browser, 'peak'));
    }
    const words = `${handler}: peaks of ${peaks.map((peak) => Math.round(peak / 1e6)).join(' and ')} MB`;
    console.log(words);
    expect(peaks[1]! - peaks[0]!, words).toBeLessThan(MOST);
  });
