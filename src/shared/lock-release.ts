/**
 * Calls `onRelease` when whoever holds a Web Lock now releases it, or ends. Resolves, once that is known, with whether
 * anybody holds it.
 *
 * A lock that is free is not watched: after the site's data were cleared (`Clear-Site-Data`, or by the visitor),
 * Chromium no longer shows a page the locks of workers and tabs that are opened later, though they live.
 * @throws what the browser throws if the page may have no locks, as while it is being unloaded
 */
export async function watchRelease(
  locks: Pick<LockManager, 'request'>,
  name: string,
  onRelease: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  const isHeld = await locks.request(name, { ifAvailable: true }, (lock) => lock === null);
  if (isHeld) locks.request(name, { signal }, onRelease).catch(() => {});
  return isHeld;
}
