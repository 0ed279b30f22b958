/** The code that a developer writes for what the page does. */

/** @param repository undefined for a folder that is picked @param input as code */
export function codeOf(
  repository: string | undefined,
  handler: string | undefined,
  input: string,
  params: object,
): string {
  const options = Object.keys(params).length > 0 ? `, { params: ${JSON.stringify(params)} }` : '';
  const location = repository === undefined ? 'picker.files!' : `'https://huggingface.co/${repository}'`;
  const picker =
    repository === undefined
      ? "const picker = document.querySelector<HTMLInputElement>('input[webkitdirectory]')!;\n"
      : '';
  return `import { load } from 'tabserve';

${picker}const model = await load(${location}${handler === undefined ? '' : `, { handler: '${handler}' }`});
console.log(await model.predict(${input}${options}));
`;
}
