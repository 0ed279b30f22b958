import { TabServeError } from '../../src/index.js';

/** Returns code and message of an error, or of anything else that was thrown. */
export function described(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof TabServeError) return { code: error.code, message: error.message };
  return {
    code: error instanceof Error ? error.name : 'error',
    message: error instanceof Error ? error.message : String(error),
  };
}
