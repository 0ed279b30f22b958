import { asTabServeError } from '../contract/errors.js';
import type { FailedModel, RegisteredLocation } from './options.js';
import type { Registry } from './registry.js';

/** Returns the versions that were registered by their locations, or could not be, as data that can be stored. */
export function snapshotOf(registry: Registry): readonly RegisteredLocation[] {
  const registered = registry.all.flatMap((served) => {
    const { name, version, source, stream } = served.options;
    const { model, options } = source ?? {};
    if (!(typeof model === 'string' || model instanceof URL)) return [];
    const stored = JSON.parse(JSON.stringify({ ...(stream && { stream }), ...options })) as Record<string, unknown>;
    return [{ name, version, model: String(model), isDefault: registry.isDefault(served), options: stored }];
  });
  return [...registered, ...registry.failedLocations];
}

/**
 * Registers the versions of a snapshot again, the defaults first.
 * @param checkOpen throws if the server was disposed of
 * @returns those that could not be loaded, with their errors
 */
export async function restoreAll(
  models: readonly RegisteredLocation[],
  registry: Registry,
  { register, checkOpen }: { register(location: RegisteredLocation): Promise<void>; checkOpen(): void },
): Promise<readonly FailedModel[]> {
  const inOrder = [...models].sort((one, other) => Number(other.isDefault) - Number(one.isDefault));
  const failures: FailedModel[] = [];
  for (const location of inOrder) {
    checkOpen();
    await register(location).catch((error: unknown) => {
      checkOpen();
      const failed = { location, error: asTabServeError(error) };
      failures.push(failed);
      registry.fail(failed);
    });
  }
  return failures;
}
