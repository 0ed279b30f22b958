import { load } from 'tabserve';

const embedder = await load('https://huggingface.co/Xenova/bge-small-en-v1.5');
console.log(await embedder.predict('Where is the station?')); // Float32Array(384) [ … ]
