const HUB = 'https://huggingface.co';
const REPOSITORY =
  /^\/(?!(?:datasets|spaces|models|docs|api)\/)([\w.-]+\/[\w.-]+)(?:\/tree\/([^/]+)((?:\/[^/]+)*))?\/?$/;

/**
 * Returns the folder of a repository's files: `https://huggingface.co/ORG/NAME`, or `…/tree/REVISION`, becomes
 * `https://huggingface.co/ORG/NAME/resolve/REVISION/`. Returns undefined for any other URL.
 */
export function repositoryFolder(url: URL): URL | undefined {
  const [, name, revision = 'main', folder = ''] = (url.origin === HUB && REPOSITORY.exec(url.pathname)) || [];
  return name === undefined ? undefined : new URL(`${HUB}/${name}/resolve/${revision}${folder}/`);
}

/** Returns whether files are read from a repository of huggingface.co. */
export function isRepository(url: string): boolean {
  return url.startsWith(`${HUB}/`);
}

/** Returns the name of a model by the URL of its folder: the repository's name, or the folder's. */
export function modelNameOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  const parts = path.split('/').filter(Boolean);
  const at = parts.indexOf('resolve');
  return decodeURIComponent((at > 0 ? parts[at - 1] : parts.at(-1)) ?? 'model');
}
