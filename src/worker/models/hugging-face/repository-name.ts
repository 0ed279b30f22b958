/**
 * Returns the name of a model by the URL of its folder, the repository's name or the folder's; or by the name of the
 * folder that the visitor picked.
 */
export function modelNameOf(url: string): string {
  const path = URL.canParse('.', url) ? decodeURIComponent(new URL(url).pathname) : url;
  const parts = path.split('/').filter(Boolean);
  const at = parts.indexOf('resolve');
  return (at > 0 ? parts[at - 1] : parts.at(-1)) ?? 'model';
}
