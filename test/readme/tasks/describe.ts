import { load } from 'tabserve';

const writer = await load('https://huggingface.co/Xenova/vit-gpt2-image-captioning', { handler: 'image_to_text' });
const photo = document.querySelector('img')!;
const { text, finishReason } = await writer.predict(photo, { params: { maxNewTokens: 20 } });
console.log(text, finishReason);
