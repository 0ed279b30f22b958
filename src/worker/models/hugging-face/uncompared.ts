import { TabServeError } from '../../../contract/errors.js';

/** The error for a repository whose class has a handler by its name, but is compared with Python by no test. */
export class UncomparedClass extends TabServeError {
  /**
   * @param architecture the class
   * @param likely its handler
   * @param key what names the handler
   */
  constructor(
    architecture: string | undefined,
    readonly likely: string,
    key: string,
  ) {
    super(
      'unknown-handler',
      `By its name, the class ${architecture} of config.json is one of ${likely}, but no test of TabServe compares it with Python. Set ${key} to '${likely}' to open it, and compare some answers of your own.`,
    );
  }
}

/** Returns the error for an archive of which nobody has named the handler; undefined if it has another reason. */
export function uncomparedClass(
  { architecture, likelyHandler }: { readonly [Key in 'architecture' | 'likelyHandler']?: string | undefined },
  key = 'the option handler of load',
): UncomparedClass | undefined {
  return likelyHandler === undefined ? undefined : new UncomparedClass(architecture, likelyHandler, key);
}
