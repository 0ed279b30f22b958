/** The code that a developer writes for what the page does. */
import { literal } from '../demos/code.js';
import type { Sample } from './task.js';

/** Where the model is: a repository of Hugging Face, or the visitor's folder, or a model of the gallery. */
export type Place = { readonly repository: string } | 'folder' | { readonly url: string; readonly config: object };

/** @param input as code; not needed with a sample */
export function codeOf(
  place: Place,
  handler: string | undefined,
  input: string,
  params: object,
  sample: Sample | undefined,
): string {
  const options = Object.keys(params).length > 0 ? `, ${literal({ params })}` : '';
  const picker =
    place === 'folder' ? "const picker = document.querySelector<HTMLInputElement>('input[webkitdirectory]')!;\n" : '';
  const location =
    place === 'folder'
      ? 'picker.files!'
      : literal('url' in place ? place.url : `https://huggingface.co/${place.repository}`);
  const how = {
    ...(handler !== undefined && { handler }),
    ...(typeof place === 'object' && 'config' in place && { config: place.config }),
  };
  const opened = Object.keys(how).length > 0 ? `${location}, ${literal(how)}` : location;
  return `import { ${['load', ...(sample?.imports ?? [])].join(', ')} } from 'tabserve';

${picker}const model = await load(${opened});
${sample ? sample.lines(options) : `console.log(await model.predict(${input}${options}));`}
`;
}
