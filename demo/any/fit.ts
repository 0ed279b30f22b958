/** What the SDK would do with a model on this device, before the model is downloaded. */
import { assess, type AssessedBackend, type Assessment, type ModelLocation } from '../../src/index.js';
import type { HandlerName } from '../../src/worker/handlers/registry.js';
import { el } from '../page/dom.js';
import { described } from '../page/errors.js';
import { bytes } from '../page/format.js';

export interface Fit {
  readonly element: HTMLElement;
  /** Assesses a model as it would be opened. The last call wins. */
  show(model: ModelLocation, handler: HandlerName | undefined, dtype: string | undefined): Promise<void>;
  dispose(): void;
}

/** Makes the lines that say whether a model will run well here. */
export function fit(): Fit {
  let asking = new AbortController();
  const element = el('ul', { class: 'any-parts', 'aria-label': 'On this device', 'aria-live': 'polite' });
  const say = (lines: readonly string[]): void => element.replaceChildren(...lines.map((line) => el('li', {}, line)));
  return {
    element,
    async show(model, handler, dtype) {
      asking.abort();
      const { signal } = (asking = new AbortController());
      say(['Looking at what this device has…']);
      try {
        const config = dtype === undefined ? {} : { config: { engine: { dtype: dtype as 'q4' } } };
        const assessed = await assess(model, { signal, ...(handler && { handler }), ...(config as object) });
        if (!signal.aborted) say(linesOf(assessed));
      } catch (error) {
        if (!signal.aborted) say([described(error).message]);
      }
    },
    dispose: () => asking.abort(),
  };
}

function linesOf({ handler, backends, skipped }: Assessment): readonly string[] {
  const [first] = backends;
  const reasons = skipped.map(({ engine, name, reason }) => `${engine}/${name}: ${reason}`);
  return [
    `Handler: ${handler.name ?? 'none follows from its files'}. ${handler.reason}`,
    ...(first
      ? [
          describe(first),
          ...first.concerns,
          ...first.excluded.map(({ precision, reason }) => `Not ${precision}: ${reason}.`),
        ]
      : ['No backend of this browser can run it.']),
    ...reasons.map((reason) => `Not ${reason}`),
  ];
}

function describe({ engine, name, files, bytes: size, memory }: AssessedBackend): string {
  const precisions = [...new Set(files.flatMap(({ precision }) => precision ?? []))].join(' and ');
  const needs = size === undefined ? 'of a size that its server does not say' : `${bytes(size)} to download`;
  const takes = memory === undefined ? '' : `, about ${bytes(memory)} of memory`;
  return `Backend: ${engine}/${name}${precisions && ` in ${precisions}`}, ${needs}${takes}.`;
}
