import type { CandidateName, Backend, Probe } from '../../contract/backends.js';
import type * as TabServe from '../../index.js';

/** What a page is asked to try. */
export interface Task {
  /** URLs of the standalone build's script, of the archive and, for a handler of the app's own, of its worker. */
  readonly client: string;
  readonly model: string;
  readonly worker: string | undefined;
  readonly backend: CandidateName;
  /** Seconds for everything. */
  readonly timeout: number;
  /**
   * The handler's input: a value, in which the files at the given paths of keys are missing; undefined if the model is
   * only opened.
   */
  readonly input:
    | { readonly value: unknown; readonly files: readonly { readonly path: readonly string[]; readonly url: string }[] }
    | undefined;
}

/** What it found. */
export type Found = { readonly probe: Probe | undefined } & (
  | { readonly ok: true; readonly backend: Backend; readonly answer: unknown }
  | {
      readonly ok: false;
      /** The error's code, and that of the error that has caused it. */
      readonly code: string;
      readonly cause: string | undefined;
      readonly message: string;
    }
);

/**
 * Opens an archive on one backend with the package's own client, which proves and measures it, and asks the handler. It
 * runs in the page, which has only the function itself and nothing else of this module.
 */
export async function openOn({ client: script, model, worker, backend, timeout, input }: Task): Promise<Found> {
  const { connect } = (await import(script)) as typeof TabServe;
  const signal = AbortSignal.timeout(timeout * 1000);
  const options = {
    model,
    backends: [backend],
    // `fastest` measures. Verdicts of earlier visits do not count.
    prefer: 'fastest',
    measureBudget: 1000,
    verify: 'reference',
    verdicts: { get: async () => undefined, set: async () => {}, clear: async () => {} },
    cache: 'none',
    startupTimeout: timeout,
    responseTimeout: timeout,
    maxRetryTimeoutInSec: 0,
  } as const;
  const client =
    worker === undefined
      ? connect(options)
      : connect<TabServe.BaseHandler>(() => new Worker(worker, { type: 'module' }), options);
  try {
    await client.initialize({ signal });
    // A later loss would change it.
    const opened = client.backend!;
    const whole = { input: input?.value };
    for (const { path, url } of input?.files ?? []) {
      const keys = ['input', ...path];
      const last = keys.pop()!;
      const owner = keys.reduce<Record<string, unknown>>((value, key) => value[key] as typeof value, whole);
      owner[last] = await (await fetch(url, { signal })).blob();
    }
    const answer = input && (await client.predict(whole.input as never, { signal }));
    return { ok: true, backend: opened, answer, probe: client.probe };
  } catch (error) {
    const { code = 'handler-failed', message, cause } = error as Partial<TabServe.TabServeError> & Error;
    const inner = cause as Partial<TabServe.TabServeError> | undefined;
    const isLate = signal.aborted;
    return {
      ok: false,
      code: isLate ? 'timeout' : code,
      cause: inner?.code,
      message: isLate
        ? `It did not answer within ${timeout} s.`
        : code === 'no-backend' && inner?.message
          ? inner.message
          : message,
      probe: client.probe,
    };
  } finally {
    await client.dispose();
  }
}
