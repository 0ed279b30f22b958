import type { Load } from './load.js';

/** The part of the YAML parser that is used. */
export type Yaml = Pick<typeof import('js-yaml'), 'CORE_SCHEMA' | 'loadAll' | 'mapTag' | 'mergeTag'>;

/** Loads the YAML parser. */
export const load: Load<Yaml> = async () => {
  // By name, so that bundlers leave the rest out.
  const { CORE_SCHEMA, loadAll, mapTag, mergeTag } = await import('js-yaml');
  return { CORE_SCHEMA, loadAll, mapTag, mergeTag };
};
