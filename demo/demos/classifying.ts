import type { Run } from '../demo.js';
import { comment, input, loading, options } from './code.js';

/**
 * Returns the code of a classification. `as`: the name of the input; `made`: the statements that make it, unless it is
 * used as it is.
 */
export function classifying(handler: string, as: string, run: Run, made = input(as, run.source)): string {
  return `import { load } from 'tabserve';

${loading('classifier', handler, run)}
${made}
const classes = await classifier.predict(${as}${options(run)});
${comment(run.result, 2)}console.log(classes, classifier.backend);
await classifier.dispose();
`;
}
