/** Parts of the code that the page shows: TypeScript, as in the docs. */
import type { Run, Source } from '../demo.js';

/** Returns the statement that loads the model as `name`. */
export function loading(
  name: string,
  handler: string,
  { archive, backends }: { readonly archive: string; readonly backends?: Run['backends'] },
): string {
  const options = literal({ handler, ...(backends && { backends }) });
  return `const ${name} = await load(${literal(archive)}, ${options});`;
}

/** Returns the statement that makes the input, as `name`. */
export function input(name: string, source: Source): string {
  return `const ${name} = ${INPUTS[source.kind](source as never)};`;
}

const INPUTS: { readonly [Kind in Source['kind']]: (source: Source & { kind: Kind }) => string } = {
  sample: ({ url }) => `new URL(${literal(url)}, location.href)`,
  text: ({ text }) => literal(text),
  file: () => `document.querySelector<HTMLInputElement>('input[type="file"]')!.files![0]!`,
  camera: () => `document.querySelector('video')!`,
  canvas: () => `document.querySelector('canvas')!`,
};

/** Shows the camera in `video`. */
export const CAMERA = `const video = document.createElement('video');
video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
await video.play();
`;

/** Returns the second argument of `predict`, if there is one. */
export function options({ params }: Run): string {
  return Object.keys(params).length > 0 ? `, ${literal({ params })}` : '';
}

/** Returns a result as a comment: the first `count` items. */
export function comment(result: unknown, count: number): string {
  if (!Array.isArray(result)) return '';
  const items: readonly unknown[] = result;
  const shown = items.slice(0, count).map((item) => literal(item));
  return `// [${[...shown, ...(items.length > count ? ['…'] : [])].join(', ')}]\n`;
}

/** Returns a value as JavaScript, in this package's style. Fractions are rounded to three digits. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, one]) => `${key}: ${literal(one)}`);
    return `{ ${entries.join(', ')} }`;
  }
  return String(value);
}

function quoted(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`);
  return `'${escaped}'`;
}
