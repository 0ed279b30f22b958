/**
 * Returns a function that calls `load` once, and again only after a failure. Each `import()` waits for a task of the browser's, even of a module that is
 * loaded; while an engine arrives, that takes a quarter of a second.
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    if (!loading) {
      loading = load();
      loading.catch(() => (loading = undefined));
    }
    return loading;
  };
}
