import { load } from 'tabserve';

const filler = await load('https://huggingface.co/Xenova/bert-base-uncased', { handler: 'fill_mask' });
const [words] = await filler.predict('London is the [MASK] of England.', { params: { topK: 3 } });
for (const { label, score } of words ?? []) console.log(label, score);
