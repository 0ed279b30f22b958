import { parseArgs, type ParseArgsConfig } from 'node:util';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { nearestName } from '../../shared/nearest-name.js';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;

export const ARCHIVE_FLAGS = {
  'model-name': TEXT,
  version: { ...TEXT, short: 'v' },
  'serialized-file': TEXT,
  handler: TEXT,
  'extra-files': TEXT,
  'config-file': { ...TEXT, short: 'c' },
  'export-path': TEXT,
  'archive-format': TEXT,
  force: { ...FLAG, short: 'f' },
  golden: TEXT,
  check: FLAG,
  'update-hashes': FLAG,
  workflow: FLAG,
  'workflow-name': TEXT,
  'spec-file': TEXT,
  'model-file': TEXT,
  'requirements-file': { ...TEXT, short: 'r' },
  runtime: TEXT,
} as const;

export const INSPECT_FLAGS = {
  write: FLAG,
  output: { ...TEXT, short: 'o' },
  force: { ...FLAG, short: 'f' },
} as const;

export const OPTIMIZE_FLAGS = {
  output: { ...TEXT, short: 'o' },
  weights: TEXT,
  keep: FLAG,
  agreement: TEXT,
  force: { ...FLAG, short: 'f' },
} as const;

export const TEST_FLAGS = { backends: TEXT, junit: TEXT, browser: TEXT, timeout: TEXT } as const;

const LIST = { ...TEXT, multiple: true } as const;

export const SERVE_FLAGS = {
  port: TEXT,
  host: TEXT,
  management: FLAG,
  cors: LIST,
  'allowed-host': LIST,
  backends: TEXT,
  workers: TEXT,
  worker: TEXT,
  timeout: TEXT,
  'max-request-size': TEXT,
  'max-response-size': TEXT,
  'model-store': TEXT,
  snapshot: TEXT,
  'access-log': TEXT,
  'model-log': TEXT,
  'token-auth': FLAG,
  'token-expiration-min': TEXT,
} as const;

export const BENCH_FLAGS = {
  input: TEXT,
  'content-type': TEXT,
  header: LIST,
  concurrency: TEXT,
  duration: TEXT,
  'warm-up': TEXT,
  report: TEXT,
} as const;

export const MIGRATE_FLAGS = { 'dry-run': FLAG } as const;

/** Parses the arguments of a command. @throws `model-config` for a flag that does not exist, or has no value */
export function parse<T extends ParseArgsConfig>(config: T, help = 'tabserve --help'): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (cause) {
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(messageOf(cause as Error)) ?? [];
    const flags = Object.keys(config.options ?? {}).map((flag) => `--${flag}`);
    const why =
      unknown === undefined ? messageOf(cause as Error).replace(/\.?$/, '.') : unknownName(unknown, 'flag', flags);
    throw new TabServeError('model-config', `${why} Try: ${help}`, { cause });
  }
}

/** Says that a name does not exist, and which one is probably meant. */
export function unknownName(name: string, noun: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  return `${name} is no ${noun}${meant === undefined ? '' : `; probably ${meant} is meant`}.`;
}

/**
 * Returns the one file, folder or URL that a command takes.
 * @throws `model-config` for none, an empty one, or several
 */
export function only([path, ...others]: readonly string[], command: string, what: string): string {
  if (path && others.length === 0) return path;
  throw new TabServeError('model-config', `${command} takes one ${what}. Try: tabserve --help`);
}

/** Returns the error for a flag with a wrong value. @param expected in words */
export function wrongFlag(flag: string, expected: string, value: unknown): TabServeError {
  return new TabServeError('model-config', `--${flag}: expected ${expected}, got ${JSON.stringify(value)}.`);
}

/** Returns a flag's number; undefined if it is not given. @throws `model-config` for no whole number within the limits */
export function numberFlag(name: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw wrongFlag(name, `a whole number from ${min} to ${max}`, text);
}
