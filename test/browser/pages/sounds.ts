/** Decodes sound files as a request does, as `window.sounds`. */
import type { AudioInput } from '../../../src/contract/audio.js';
import { audioFile } from '../../../src/page/requests/input-files.js';
import { openAudio } from '../../../src/worker/audio/read-audio.js';

/**
 * Returns the mean of a file's channels and who has decoded it, or the error that its request fails with.
 * @param part how much of the file there is
 */
async function decode(url: string, type: string, part = 1) {
  const whole = await (await fetch(url)).blob();
  const file = whole.slice(0, part * whole.size, type);
  try {
    const given = (await audioFile(file)) as AudioInput;
    const { sampleRate, length, blocks } = await openAudio(given);
    const samples: number[] = [];
    for await (const block of blocks()) samples.push(...block);
    return { sampleRate, by: given === file ? 'worker' : 'page', length, samples };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
}

/** Decodes as a browser without WebCodecs. */
async function decodeWithoutWebCodecs(url: string, type: string) {
  const { AudioDecoder } = globalThis;
  try {
    Object.assign(globalThis, { AudioDecoder: undefined });
    return await decode(url, type);
  } finally {
    Object.assign(globalThis, { AudioDecoder });
  }
}

/** Decodes a file that `window.change` changes once it is open. */
async function decodeChanging(file: File) {
  const { blocks } = await openAudio(file);
  await (window as unknown as { change(): Promise<void> }).change();
  try {
    let length = 0;
    for await (const block of blocks()) length += block.length;
    return { length };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
}

export const sounds = { decode, decodeWithoutWebCodecs, decodeChanging };
Object.assign(window, { sounds });
