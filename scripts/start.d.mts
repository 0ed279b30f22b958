export function canOpenBrowser(
  platform?: string,
  env?: Readonly<Record<string, string | undefined>>,
  exists?: (path: string) => boolean,
): boolean;
