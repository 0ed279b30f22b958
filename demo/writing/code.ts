/** The code that the page shows. */
export const CODE = `import { load } from 'tabserve';

const writer = await load('/models/writer/', { handler: 'text_generator' });
const params = { temperature: 0.8, topK: 40, seed: 1, maxNewTokens: 200 };
for await (const part of writer.stream('Once upon a time', { params })) {
  if (typeof part === 'string') document.body.append(part);
  else console.log(part.finishReason, part.usage);
}
await writer.dispose();
`;
