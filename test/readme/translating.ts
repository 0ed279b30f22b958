import { load } from 'tabserve';

const translator = await load('https://huggingface.co/Xenova/nllb-200-distilled-600M', { handler: 'text_to_text' });
const { text, finishReason } = await translator.predict('Tell me a story about the sea', {
  params: { srcLang: 'eng_Latn', tgtLang: 'deu_Latn', numBeams: 4, maxNewTokens: 8 },
});
console.log(text.length > 0, finishReason); // true 'length'
await translator.dispose();
