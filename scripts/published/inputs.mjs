import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns what `predict` takes under Node for an input of `answers.json`: a text, a file of the repository, several
 * recordings one after another, or a sound that `madeSound` makes.
 */
export function inputOf(input) {
  if (typeof input === 'object' && 'made' in input) return madeSound(input.made);
  if (typeof input === 'object' && 'joined' in input) return joinedSound(input.joined.map(inputOf));
  if (typeof input !== 'string' || !/\.(png|jpg|wav)$/.test(input)) return input;
  const bytes = readFileSync(root + input);
  return input.endsWith('.wav')
    ? soundOf(bytes)
    : new Blob([bytes], { type: input.endsWith('.png') ? 'image/png' : 'image/jpeg' });
}

/** Returns the sound of a WAV file with a header of 44 bytes, in 16 bits. */
export function soundOf(bytes) {
  const numbers = new Int16Array(bytes.buffer.slice(bytes.byteOffset + 44, bytes.byteOffset + bytes.length));
  return { samples: Float32Array.from(numbers, (value) => value / 32768), sampleRate: 16_000 };
}

/** Returns sounds one after another, with half a second of silence after each. */
export function joinedSound(sounds) {
  const [{ sampleRate }] = sounds;
  const silence = new Float32Array(sampleRate / 2);
  const parts = sounds.flatMap(({ samples }) => [samples, silence]);
  return { samples: Float32Array.from(parts.flatMap((part) => [...part])), sampleRate };
}

/** Returns a minute in which nobody speaks: silence, noise (the same each time), or a chord of three tones. */
export function madeSound(kind) {
  const sampleRate = 16_000;
  let state = 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const tones = (at) =>
    [262, 330, 392].reduce((sum, hertz) => sum + Math.sin((at * hertz * 2 * Math.PI) / sampleRate), 0);
  const of = { silence: () => 0, noise: () => (random() - 0.5) / 5, chord: (at) => tones(at) / 10 }[kind];
  return { samples: Float32Array.from({ length: 60 * sampleRate }, (_, at) => of(at)), sampleRate };
}

/**
 * Returns an answer as JSON has it: of a picture, the opacity of every 97th pixel, and every 97th byte; of sound, every
 * 97th sample.
 */
export function plain(answer) {
  if (ArrayBuffer.isView(answer)) return [...answer];
  if (typeof answer !== 'object' || answer === null) return answer;
  if ('audio' in answer) {
    const { samples } = answer.audio;
    return { samples: samples.length, every97th: [...samples].filter((_, at) => at % 97 === 0) };
  }
  if ('width' in answer) {
    const every97th = (bytes) => bytes.filter((_, at) => at % 97 === 0);
    return { alpha: every97th([...answer.data].filter((_, at) => at % 4 === 3)), bytes: every97th([...answer.data]) };
  }
  if (Array.isArray(answer)) return answer;
  if ('scores' in answer) return { ...answer, scores: Object.values(answer.scores).map((scores) => [...scores]) };
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]) => [key, ArrayBuffer.isView(value) ? [...value] : value]),
  );
}
