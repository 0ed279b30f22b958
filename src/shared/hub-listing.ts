/** What the Hub lists of a repository: its commit and its files, in one answer of its API. */
import type { HubFile, HubListing } from '../contract/archive.js';
import type { HubRepository } from './hub.js';
import { isRecord } from './schema.js';

/** Of a repository with more files than this, the answer does not have all (huggingface_hub, `VERY_LARGE_REPO_THRESHOLD`). */
const MAX_LISTED = 50_000;

/** Returns the URL at which the Hub lists the files of a repository, with their sizes. */
export function listingUrl({ name, revision }: HubRepository): URL {
  return new URL(`https://huggingface.co/api/models/${name}/revision/${revision}?blobs=true`);
}

/** Reads the Hub's answer; undefined if it is none. */
export function readListing(text: string, { folder }: HubRepository): HubListing | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(answer)) return undefined;
  const { sha, siblings } = answer;
  if (typeof sha !== 'string' || !Array.isArray(siblings) || siblings.length > MAX_LISTED) return undefined;
  const files: HubFile[] = [];
  for (const one of siblings as readonly unknown[]) {
    if (!isRecord(one)) return undefined;
    const { rfilename: path, size: bytes, blobId, lfs } = one;
    const id = isRecord(lfs) && typeof lfs['sha256'] === 'string' ? lfs['sha256'] : blobId;
    if (typeof path !== 'string' || typeof bytes !== 'number' || typeof id !== 'string') return undefined;
    if (path.startsWith(folder)) files.push({ path: path.slice(folder.length), bytes, id });
  }
  return { commit: sha, files };
}
