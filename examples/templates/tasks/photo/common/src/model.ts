import { backends } from './backends.ts';

/** What `connect` and `useModel` take. `model` may be the address of a repository, such as https://huggingface.co/ORG/NAME. */
export const options = { model: '/models/digits/', handler: 'image_classifier', ...backends } as const;

/** Pictures to begin with. */
export const SAMPLES = ['drawn-3', 'drawn-7', 'paper-2'].map((name) => `/models/digits/samples/${name}.png`);

export async function readSample(url: string): Promise<Blob> {
  return await (await fetch(url)).blob();
}

export const percent = (score: number): string => `${Math.round(score * 100)} %`;
