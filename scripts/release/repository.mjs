/** The address of the repository that a package is published from: npm compares it with the package's provenance. */

/**
 * Returns the address: GitHub's, where its CI runs; otherwise the one of git's remote, without a name or a token that
 * stands in it. Undefined if neither is one of a server.
 * @param {Readonly<Record<string, string | undefined>>} env
 * @param {string} remote such as `git@example.org:owner/name.git`; empty if there is none
 */
export function repositoryOf({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name }, remote) {
  if (server && name) return `${server}/${name}`;
  const [, host, path] =
    /^(?:(?:https?|ssh|git):\/\/)?(?:[^@/\s]+@)?([\w-]+(?:\.[\w-]+)+)(?::\d+(?=\/))?[/:]([^\s:]+?)(?:\.git)?\/?$/.exec(
      remote.trim(),
    ) ?? [];
  return host && `https://${host}/${path.replace(/^\//, '')}`;
}

/**
 * Returns a manifest with the fields that name the repository.
 * @param {Readonly<Record<string, unknown>>} manifest
 * @param {string | undefined} repository
 */
export function withRepository(manifest, repository) {
  if (repository === undefined) return manifest;
  return {
    ...manifest,
    homepage: `${repository}#readme`,
    bugs: { url: `${repository}/issues` },
    repository: { type: 'git', url: `git+${repository}.git` },
  };
}
