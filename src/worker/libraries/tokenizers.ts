import type { Load } from './load.js';

/** Loads Hugging Face's tokenizers. */
export const load: Load<Pick<typeof import('@huggingface/tokenizers'), 'Tokenizer'>> = () =>
  import('@huggingface/tokenizers');
