import type { ConfigSchema } from '../src/shared/schema.ts';

/** Schemas with descriptions, by the names of the classes; those of `explain` by the names of their types. */
export type Described = Readonly<Record<string, ConfigSchema>>;

/** Returns the sources of `schemas.ts` by their paths, and the schemas that they are made from. */
export function paramSchemas(): Promise<{
  readonly sources: Readonly<Record<string, string>>;
  readonly described: Described;
}>;

/** Returns what the docblocks of settings say, by the settings' names. */
export function settingTexts(): Readonly<Record<string, string>>;
