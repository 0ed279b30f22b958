import { load } from 'tabserve';

const writer = await load('https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct', { handler: 'text_generator' });
const messages = [{ role: 'user', content: 'Tell me about the sea.' }];
for await (const part of writer.stream({ messages })) if (typeof part === 'string') document.body.append(part);
