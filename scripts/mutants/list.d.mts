/** Of each: a file of `src/`, a part of it, and what replaces it. */
export const MUTANTS: readonly (readonly [file: string, part: string, replacement: string])[];
