import { messageOf, TabServeError, type ErrorCode } from '../../contract/errors.js';

/**
 * ONNX Runtime's WebGL build tries its own format after ONNX, and reports both failures. The second one does not
 * matter: the file is ONNX.
 */
const BOTH_FORMATS = /^Failed to load model as ONNX format: ([^]*)\nas ORT format: [^]*$/;

/**
 * Converts an engine's error to a `TabServeError`. Recognizes out of memory and a lost device by the error's message.
 */
export function engineError(code: ErrorCode, message: string, cause: unknown): TabServeError {
  if (cause instanceof TabServeError) return cause;
  const why = messageOf(cause).replace(BOTH_FORMATS, '$1');
  const outOfMemory = /out of memory|bad_alloc|\bOOM\b|enlarge memory|(array buffer|memory) allocation failed/i.test(
    why,
  );
  const lost = /device.{0,20}lost|lost.{0,20}device/i.test(why);
  // After this the WebAssembly instance is in an unknown state.
  const aborted =
    (typeof WebAssembly !== 'undefined' && cause instanceof WebAssembly.RuntimeError) || why.startsWith('Aborted(');
  return new TabServeError(
    outOfMemory ? 'out-of-memory' : lost ? 'device-lost' : aborted ? 'worker-lost' : code,
    `${message}: ${why}`,
    { cause },
  );
}
