export interface Room {
  readonly runs: string;
  readonly what: string;
  readonly imports: readonly string[];
  readonly types?: readonly string[];
  readonly lazy?: Readonly<Record<string, readonly string[]>>;
  readonly packages?: readonly string[];
}
export const ROOMS: Readonly<Record<string, Room>>;
export function roomOf(path: string): string;
export function violation(from: string, to: string, how: 'value' | 'type' | 'lazy'): string | undefined;
