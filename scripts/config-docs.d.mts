import type { ErrorCode } from '../src/contract/errors.ts';
import type { HandlerName } from '../src/worker/handlers/registry.ts';
import type { Schema } from '../src/shared/schema.ts';
import type { Described } from './param-schemas.mjs';

/** The modules under `src` that the documents are made from, by their path there without its ending. */
export interface Modules {
  readonly registry: typeof import('../src/worker/handlers/registry.ts');
  readonly schema: typeof import('../src/shared/schema.ts');
  readonly models: typeof import('../src/worker/models/config.ts');
  readonly transforms: typeof import('../src/worker/transforms/transforms-schema.ts');
  readonly errors: typeof import('../src/contract/errors.ts');
  readonly meanings: typeof import('../src/contract/error-meanings.ts');
  readonly settings: typeof import('../src/contract/settings.ts');
  readonly metrics: typeof import('../src/shared/metrics/built-in.ts');
  readonly threads: typeof import('../src/shared/threads.ts');
  readonly budget: typeof import('../src/page/workers/budget.ts');
}

/** The JSON Schema of a `model-config.yaml`. `definitions` has the `handler:` section of each handler. */
export function configSchema(
  modules: Modules,
  described: Described,
): Promise<Schema & { readonly definitions: Readonly<Record<HandlerName, Schema>> }>;

/** The pages in docs/ that have tables made from the code. */
export const PAGES: readonly string[];

/** What an app's developer does about an error, by its code. */
export const ADVICE: Readonly<Record<ErrorCode, string>>;

/** Returns the tables of the docs, by what stands in their comments. */
export function tablesOf(modules: Modules, described: Described): Promise<Readonly<Record<string, string>>>;

/**
 * Returns `page` with its tables made anew: what stands between `<!-- keys of … -->` or `<!-- table of … -->` and
 * `<!-- end -->`.
 */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string;

/**
 * Returns `page` with its code blocks made anew: a block after `<!-- path -->` is that file. Of a test it is a part,
 * from its first `test(` on.
 */
export function withSnippets(page: string, read: (path: string) => string): string;
