import { missingFrom, type Source } from './source.js';

/** Returns files at hand: those that the visitor picked, or that were unpacked. */
export function filesSource(url: string, files: Readonly<Record<string, Blob>>): Source {
  const paths = Object.keys(files);
  return {
    url,
    paths,
    has: (path) => Promise.resolve(Object.hasOwn(files, path)),
    read: (path) => Promise.resolve(Object.hasOwn(files, path) ? files[path] : undefined),
    missing: (path) => missingFrom(url, path, paths),
  };
}
