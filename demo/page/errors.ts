import { TabServeError } from '../../src/index.js';

/** Code and message of whatever was thrown. */
export function described(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof TabServeError) return { code: error.code, message: error.message };
  return {
    code: error instanceof Error ? error.name : 'error',
    message: error instanceof Error ? error.message : String(error),
  };
}
