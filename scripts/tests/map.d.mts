/** Specs by project, by the path of what they test. */
export const SPECS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
export function testsOf(
  file: string,
  exists: (path: string) => boolean,
  about?: { readonly isNew?: boolean; readonly isGenerated?: boolean },
): Record<string, readonly string[]>;
export function coverageOf(file: string): string | undefined;
export function pathOf(project: string, name: string): string;
