import { TabServeError } from '../../contract/errors.js';
import { checkFolder, checkFramework, checkTemplate, type Choice } from './create-app.js';
import { FRAMEWORKS, TEMPLATE_NAMES, TEMPLATES } from './templates.js';

/** Asks a person, and returns the answer's line. */
export type Ask = (question: string) => Promise<string>;

/**
 * Returns what app to make: what the flags say, and for the rest what a person answers.
 * @param ask undefined if nobody can be asked
 * @throws `invalid-input` for a wrong value, and if something is missing that nobody can be asked for
 */
export async function choose(
  folders: readonly string[],
  flags: { readonly template?: string | undefined; readonly framework?: string | undefined },
  ask: Ask | undefined,
): Promise<Omit<Choice, 'tabserve'>> {
  if (folders.length > 1)
    throw new TabServeError('invalid-input', `One app has one folder, and these are several: ${folders.join(', ')}.`);
  const folder =
    folders[0] ?? (await askFor(ask, 'Folder of the app (my-app): ', 'a folder: npm create tabserve my-app'));
  checkFolder(folder || 'my-app');
  const listed = TEMPLATE_NAMES.map((name, index) => `  ${index + 1}  ${name}: ${TEMPLATES[name].what}`).join('\n');
  const template = checkTemplate(
    flags.template ??
      named(
        await askFor(ask, `${listed}\nTemplate (1): `, `--template: one of ${TEMPLATE_NAMES.join(', ')}`),
        TEMPLATE_NAMES,
      ),
  );
  const offered = FRAMEWORKS.map((name, index) => `  ${index + 1}  ${name}`).join('\n');
  const framework =
    flags.framework ?? (ask ? named(await ask(`${offered}\nFramework (1): `), FRAMEWORKS) : FRAMEWORKS[0]);
  return { folder: folder || 'my-app', template, framework: checkFramework(framework) };
}

async function askFor(ask: Ask | undefined, question: string, missing: string): Promise<string> {
  if (ask) return (await ask(question)).trim();
  throw new TabServeError('invalid-input', `Without a terminal, nobody can be asked. Add ${missing}.`);
}

/** Returns what a number of a list stands for; the first for an empty answer, and any other answer as it is. */
function named(answer: string, list: readonly string[]): string {
  return answer.trim() === '' ? list[0]! : (list[Number(answer) - 1] ?? answer.trim());
}
