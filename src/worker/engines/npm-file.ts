/**
 * A bundler has placed a file of an npm package at a URL of its own. Vite's dev server leaves the package's name in it,
 * in a worker of the app: after the folder of its bundle, or after ours.
 */
const UNPLACED = /\/(?:\.vite\/deps[^/]*|tabserve\/dist\/[\w/-]+)\/(?=(?:onnxruntime-web|@tensorflow)\/)/;

/**
 * Returns the URL of an npm package's file where a bundler has placed it, or in the folder of the package, if the
 * bundler has not.
 */
export function npmFile(placed: URL): URL {
  // Turbopack's URLs have no origin.
  if (!UNPLACED.test(placed.pathname)) return new URL(placed.href, globalThis.location?.href);
  // `exports` of onnxruntime-web maps its files to this folder.
  return new URL(placed.href.replace(UNPLACED, '/').replace(/\/onnxruntime-web\/(?=ort-)/, '$&dist/'));
}
