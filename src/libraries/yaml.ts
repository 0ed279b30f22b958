import type { Load } from './load.js';

/** The part of the YAML parser that is used. */
export type Yaml = Pick<
  typeof import('yaml'),
  'isAlias' | 'isCollection' | 'isMap' | 'isPair' | 'isScalar' | 'Lexer' | 'parseDocument' | 'visit'
>;

/** Loads the YAML parser. */
export const load: Load<Yaml> = () => import('yaml');
