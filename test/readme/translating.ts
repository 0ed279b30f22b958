import { load } from 'tabserve';

// A repository of the Hub works alike: 'https://huggingface.co/ORG/NAME'.
const translator = await load('/test/models/generation/nllb/', { handler: 'text_to_text' });
const { text, finishReason } = await translator.predict('Tell me a story about the sea', {
  params: { srcLang: 'eng_Latn', tgtLang: 'deu_Latn', numBeams: 4, maxNewTokens: 8 },
});
console.log(text.length > 0, finishReason); // true 'length'
await translator.dispose();
