/** Returns the code that a developer writes to classify. */
export function classifying(
  handler: string,
  input: string,
  result: string,
): (model: { readonly url: string }, options: string) => string {
  return ({ url }, options) => `import { load } from 'tabserve';

const classifier = await load('/${url}', { handler: '${handler}'${options} });
const result = await classifier.predict(${input}); // ${result}
classifier.backend; // the backend that runs, and why others do not: { engine: 'onnx', name: 'webgpu', skipped: [], … }
await classifier.dispose();
`;
}
