import type { PowerPreference } from '../../contract/backends.js';
import { withinLimit } from '../../shared/limit.js';

/** The part of WebNN that TabServe uses; TypeScript has no types for it. https://www.w3.org/TR/webnn/ */
export interface MLContext {
  /** Resolves when the device is lost. */
  readonly lost: Promise<unknown>;
  destroy(): void;
}

interface ML {
  createContext(options?: object): Promise<MLContext>;
}

/** How long the browser may take to make a context. */
const CONTEXT_MS = 5000;

/**
 * Makes a WebNN context on the GPU, or on what the browser chooses if it has none there.
 * @throws an Error that says why there is none; `timeout`
 */
export async function createWebnnContext(powerPreference: PowerPreference = 'high-performance'): Promise<MLContext> {
  const { ml } = (globalThis.navigator ?? {}) as { readonly ml?: ML };
  if (!ml)
    throw new Error(
      globalThis.isSecureContext === false ? 'WebNN needs a secure context (https).' : 'This browser has no WebNN.',
    );
  // Not the CPU, for which there is WASM. Browsers that do not know `deviceType`, which the standard has dropped, read
  // `powerPreference`.
  const made = ml.createContext({ deviceType: 'gpu', powerPreference }).catch(() => ml.createContext());
  try {
    return await withinLimit('WebNN', () => made, { milliseconds: CONTEXT_MS });
  } catch (error) {
    // A context that comes too late has no owner.
    made.then(
      (context) => context.destroy(),
      () => {},
    );
    throw error;
  }
}
