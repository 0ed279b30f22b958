import type { Archive, Manifest } from '../contract/archive.js';
import { formatOf } from '../shared/model-url.js';
import type { Extras } from './manifest.js';

/** Returns what an archive's manifest and its `tabserve.json` say of it: everything but the config. */
export function outlineOf(url: string, manifest: Manifest, extras: Extras): Archive {
  const { golden, integrity, alternatives } = extras;
  return {
    url,
    manifest,
    config: {},
    models: extras.models ?? modelOf(manifest),
    files: {},
    golden,
    integrity,
    ...(alternatives.length > 0 && { alternatives }),
  };
}

/** The manifest's own model, where `tabserve.json` names none. A workflow has none; that of a server may be in a format that only the server runs. */
function modelOf({ model: { serializedFile } }: Manifest): Archive['models'] {
  const format = serializedFile === undefined ? undefined : formatOf(serializedFile);
  return format ? { [format]: serializedFile } : {};
}
