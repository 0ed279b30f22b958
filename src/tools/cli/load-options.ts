/** What a user of the tool does instead of setting an option of `load`, by the option's name. */
const INSTEAD: Readonly<Record<string, string>> = {
  handler: 'pack the model with `tabserve archive --handler NAME`, which writes the handler into the archive.',
  request: 'download the files first, and pass the file or the folder.',
  allowedOrigins: 'download the files first, and pass the file or the folder.',
  integrity: 'update tabserve.json with `tabserve archive --update-hashes FOLDER`.',
};

/**
 * Adds to an error's message, if it names an option of `load`, what to do in the tool, which has no such option. Errors
 * of archives are written for apps.
 */
export function withToolAdvice(message: string): string {
  const named = [...message.matchAll(/the option ["`]?(\w+)/gi)].map(([, name]) => name!);
  const option = named.find((name) => Object.hasOwn(INSTEAD, name));
  return option === undefined
    ? message
    : `${message} With this tool, instead of the option ${option}: ${INSTEAD[option]}`;
}
