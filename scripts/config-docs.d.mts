import type { HandlerName } from '../src/handlers/registry.ts';
import type { Schema } from '../src/shared/schema.ts';

/** The modules under `src` that the documents are made from, by their path there without its ending. */
export interface Modules {
  readonly registry: typeof import('../src/handlers/registry.ts');
  readonly config: typeof import('../src/handlers/config.ts');
  readonly schema: typeof import('../src/shared/schema.ts');
  readonly models: typeof import('../src/models/config.ts');
  readonly transforms: typeof import('../src/transforms/transforms-schema.ts');
}

/** The JSON Schema of a `model-config.yaml`. `definitions` has the `handler:` section of each handler. */
export function configSchema(
  modules: Modules,
): Promise<Schema & { readonly definitions: Readonly<Record<HandlerName, Schema>> }>;

/** `page` with its tables of keys made anew: what stands between `<!-- keys of … -->` and `<!-- end -->`. */
export function withTables(page: string, modules: Modules): Promise<string>;
