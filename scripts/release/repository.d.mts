/** Declarations of the functions that the tests use. */
export function repositoryOf(
  env: { readonly GITHUB_SERVER_URL?: string; readonly GITHUB_REPOSITORY?: string },
  remote: string,
): string | undefined;
export function withRepository(manifest: object, repository: string | undefined): object;
