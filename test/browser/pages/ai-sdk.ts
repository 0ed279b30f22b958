/** Vercel's AI SDK, unmodified, and models of this package for it. */
import { embed, embedMany, generateObject, generateText, jsonSchema, Output, streamText } from 'ai';
import { tabserve, tabserveEmbedding } from '../../../src/ai-sdk.ts';
import { load } from '../../../src/index.ts';

const aiSdk = {
  embed,
  embedMany,
  generateObject,
  generateText,
  jsonSchema,
  load,
  Output,
  streamText,
  tabserve,
  tabserveEmbedding,
  /** What a call fails with, as far as a test can read it. */
  async failure(call: PromiseLike<unknown>): Promise<string> {
    return await call.then(
      () => 'answered',
      (error: Error & { code?: string }) => `${error.name}: ${error.code}: ${error.message}`,
    );
  },
};
Object.assign(window, { aiSdk });

declare global {
  interface Window {
    aiSdk: typeof aiSdk;
  }
}
