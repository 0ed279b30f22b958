/** Declarations of the functions that the tests use. */
export function releasedChangelog(text: string, version: string, day: string): string;
export function changesOf(text: string, version: string): string | undefined;
export function withVersion(text: string, version: string): string;
export function obstacles(about: {
  readonly version: string;
  readonly manifest: { readonly version: string };
  readonly repository: string | undefined;
  readonly changelog: string;
  readonly pages: Readonly<Record<string, string>>;
  readonly env: { readonly NODE_AUTH_TOKEN?: string; readonly ACTIONS_ID_TOKEN_REQUEST_URL?: string };
  readonly isClean: boolean;
}): readonly string[];
