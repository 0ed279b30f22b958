import type { Load } from './load.js';

/** Loads Hugging Face's templates. */
export const load: Load<Pick<typeof import('@huggingface/jinja'), 'Template'>> = () => import('@huggingface/jinja');
