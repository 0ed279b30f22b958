import { backends } from './backends.ts';

/** What `connect` and `useModel` take. `model` is the address of a repository, or of a folder of this app, such as /models/bge/. */
export const options = {
  model: 'https://huggingface.co/Xenova/bge-small-en-v1.5',
  handler: 'text_feature_extractor',
  // What the model was trained with, and its file of 34 MB.
  config: { engine: { dtype: 'q8' }, handler: { pooling: 'cls' } },
  batchSize: 16,
  ...backends,
} as const;
