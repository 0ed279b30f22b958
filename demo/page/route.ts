/**
 * The address says what is shown: `#/background?sample=friends&backdrop=blur`. A page reads its settings when it is
 * mounted, and again when `onSettings` tells it; it writes them when the visitor changes something.
 */

/** Names and values, e.g. `{ sample: 'friends' }`. */
export type Settings = Readonly<Record<string, string>>;

export interface Route {
  /** e.g. `background` or `docs/healing`; empty for the first page. */
  readonly page: string;
  readonly settings: Settings;
}

const listeners = new Set<(settings: Settings) => void>();

/** Returns what an address says, by default the current one. */
export function route(hash = location.hash): Route {
  const [page = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  return { page: decoded(page), settings: Object.fromEntries(new URLSearchParams(query)) };
}

/** Returns the address of a page, for a link: `#/background?sample=friends`. */
export function address(page: string, settings: Settings = {}): string {
  const query = new URLSearchParams(settings).toString();
  return `#/${page}${query && `?${query}`}`;
}

/**
 * Changes settings of the shown page in its address; `undefined` removes one. *Back* does not undo it.
 * Call it when a control has settled (`change`), not while it moves (`input`): Safari allows 100 calls in 30 seconds.
 */
export function replaceSettings(changes: Readonly<Record<string, string | undefined>>): void {
  const next = changed(changes);
  if (next !== location.hash) history.replaceState(history.state, '', next);
}

/**
 * Calls `listener` when *Back*, *Forward* or a link has changed the settings of the page that is shown. Without a
 * listener, the page is mounted anew.
 * @returns a function that ends it: call it when the page is disposed of
 */
export function onSettings(listener: (settings: Settings) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Tells the shown page its new settings. Only the shell calls it. @returns whether the page listens */
export function tellSettings(): boolean {
  const { settings } = route();
  for (const listener of listeners) listener(settings);
  return listeners.size > 0;
}

function changed(changes: Readonly<Record<string, string | undefined>>): string {
  const { page, settings } = route();
  const all = Object.entries({ ...settings, ...changes });
  return address(page, Object.fromEntries(all.filter((one): one is [string, string] => one[1] !== undefined)));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
