/**
 * Returns code and message of an error, or of anything else that was thrown. It asks for no class, so that the shell
 * does not load TabServe.
 */
export function described(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: 'error', message: String(error) };
  const { code } = error as { readonly code?: unknown };
  return { code: typeof code === 'string' ? code : error.name, message: error.message };
}
