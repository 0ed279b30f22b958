/** The code that the page shows. @param model what `load` takes, as code */
export const codeOf = (model: string): string => `import { load } from 'tabserve';

const model = await load(${model});
const messages = [{ role: 'user', content: 'What is 12 * 7?' }];
const params = { maxNewTokens: 200, doSample: false };
for await (const part of model.stream({ messages }, { params })) {
  if (typeof part === 'string') document.body.append(part);
  else if ('reasoning' in part) console.log('thinks', part.reasoning);
  else if ('toolCall' in part) console.log('calls', part.toolCall);
  else console.log(part.finishReason, part.usage);
}
await model.dispose();
`;
