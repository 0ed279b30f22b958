import { load } from 'tabserve';

const embedder = await load('https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2');
console.log(await embedder.predict('Where is the station?')); // Float32Array(384) [ … ]
