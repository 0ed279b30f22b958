import { MAX_STATE_BYTES } from '../../contract/limits.js';
import type { ConfigSchema } from '../../shared/schema.js';

/** The schema of the key by which a handler that keeps values between requests limits them: `context.kept`. */
export const STATE_SCHEMA: ConfigSchema = {
  maxStateBytes: {
    type: 'integer',
    minimum: 0,
    readOnly: true,
    description:
      'The most bytes of what a worker keeps between requests, such as key–value caches and the embeddings of images; 0 for nothing. Each is freed when no request has used it for five minutes.',
    default: MAX_STATE_BYTES,
  },
};
