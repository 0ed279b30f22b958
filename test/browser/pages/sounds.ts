/** Decodes sound files as a request does, as `window.sounds`. */
import type { AudioSamples } from '../../../src/contract/audio.js';
import { audioFile } from '../../../src/page/requests/input-files.js';
import { openAudio } from '../../../src/worker/audio/read-audio.js';

/** Returns the mean of a file's channels, or the error that its request fails with. */
async function decode(url: string, type: string) {
  const file = new Blob([await (await fetch(url)).blob()], { type });
  try {
    const given = (await audioFile(file)) as Blob | AudioSamples;
    const { sampleRate, blocks } = await openAudio(given);
    const samples: number[] = [];
    for await (const block of blocks()) samples.push(...block);
    return { sampleRate, channels: 'channels' in given ? given.channels.length : undefined, samples };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
}

export const sounds = { decode };
Object.assign(window, { sounds });
