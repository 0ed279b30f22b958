import { CreateMLCEngine } from '@mlc-ai/web-llm';

const engine = await CreateMLCEngine('SmolLM2-135M-Instruct-q0f16-MLC', {
  initProgressCallback: ({ progress }) => console.debug(progress),
});
const chunks = await engine.chat.completions.create({
  messages: [{ role: 'user', content: 'Tell me about the sea.' }],
  max_tokens: 32,
  temperature: 0.7,
  stream: true,
});
let answer = '';
for await (const { choices } of chunks) answer += choices[0]?.delta.content ?? '';
console.log(answer);
