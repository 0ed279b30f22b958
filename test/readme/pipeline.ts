import { pipeline } from 'tabserve/pipeline'; // in place of '@huggingface/transformers'

// The name of a repository of the Hub works, too: 'Xenova/distilbert-base-uncased-finetuned-sst-2-english'.
const classify = await pipeline('text-classification', '/models/languages/', { device: 'wasm' });
console.log(await classify('Wo ist der Bahnhof?')); // [{ label: 'German', score: 0.96 }]

const write = await pipeline('text-generation', '/models/writer/', { device: 'wasm', dtype: 'q8' });
const [{ generated_text: tale }] = await write('Once upon a time', { max_new_tokens: 8 });
console.log((tale as string).startsWith('Once upon a time'));
