import type { OutputChunk } from 'rolldown';

/** A part of the build: its size, and the most that it may have, in kilobytes of 1,000 bytes, compressed by gzip. */
export interface Size {
  readonly what: string;
  readonly size: number;
  readonly limit: number;
}

export function sizes(): Promise<readonly Size[]>;

/** Bundles an app as bundlers do by default. Returns the chunks. */
export function bundled(app: string, format: 'es' | 'iife'): Promise<readonly OutputChunk[]>;
