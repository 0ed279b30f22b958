import { backends } from './backends.ts';

/** What `connect` takes. `model` may be the address of a repository, such as https://huggingface.co/ORG/NAME. */
export const options = { model: '/models/nanodet/', handler: 'object_detector', ...backends } as const;
