import { getKernelsForBackend, profile } from '@tensorflow/tfjs-core';
import { zeroData } from '../../contract/dtypes.js';
import { messageOf } from '../../contract/errors.js';
import type { Session, Tensors } from '../../contract/tensors.js';

/** The sizes that stand for an unknown dimension: of the batch, and of any other axis. */
const BATCH = 1;
const SIZE = 64;

const BACKENDS = ['webgpu', 'webgl', 'wasm'] as const;

/**
 * Returns the kernels of TensorFlow.js that a model calls and a backend lacks, by backend. Runs the model once, on
 * zeros, on the CPU: which kernels an operator calls is known only then.
 * @returns why the model does not run, where it does not
 */
export async function missingKernels(session: Session): Promise<Readonly<Record<string, readonly string[]>> | string> {
  let called: readonly string[] = [];
  try {
    const { kernelNames } = await profile(async () => {
      await session.run(zeroFeeds(session));
      return [];
    });
    // What is no kernel of the backend that has run them is the name of a scope: functions with gradients of their own.
    const kernels = kernelsOf('cpu');
    called = [...new Set(kernelNames)].filter((name) => kernels.has(name));
  } catch (error) {
    return messageOf(error as Error);
  }
  await Promise.all([
    import('@tensorflow/tfjs-backend-webgpu'),
    import('@tensorflow/tfjs-backend-webgl'),
    import('@tensorflow/tfjs-backend-wasm'),
  ]);
  return Object.fromEntries(
    BACKENDS.map((backend) => {
      const known = kernelsOf(backend);
      return [backend, called.filter((kernel) => !known.has(kernel)).toSorted()];
    }),
  );
}

function kernelsOf(backend: 'cpu' | (typeof BACKENDS)[number]): ReadonlySet<string> {
  return new Set(getKernelsForBackend(backend).map(({ kernelName }) => kernelName));
}

function zeroFeeds({ inputs }: Session): Tensors {
  return Object.fromEntries(
    inputs.map(({ name, dtype, dims: declared }) => {
      const dims = declared.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? BATCH : SIZE));
      return [
        name,
        {
          dtype,
          dims,
          data: zeroData(
            dtype,
            dims.reduce((product, size) => product * size, 1),
          ),
        },
      ];
    }),
  ) as Tensors;
}
