export function handlersReport(): Promise<string>;
export function apiReports(): {
  readonly reports: Readonly<Record<string, string>>;
  readonly undocumented: readonly string[];
};
