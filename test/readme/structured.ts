import { load } from 'tabserve';

// A repository of the Hub works alike: 'https://huggingface.co/ORG/NAME'.
const writer = await load('/models/writer/', { handler: 'text_generator' });
const schema = {
  type: 'object',
  properties: {
    mood: { enum: ['happy', 'sad'] },
    stars: { type: 'integer', minimum: 1, maximum: 5 },
    words: { type: 'array', items: { type: 'string', maxLength: 12 }, maxItems: 2 },
  },
  required: ['mood', 'stars', 'words'],
};
const { text, finishReason } = await writer.predict('A review of the film, as JSON:', {
  params: { responseFormat: { type: 'json_schema', schema }, maxNewTokens: 100 },
});
const review = JSON.parse(text) as { mood: string; stars: number; words: string[] };
console.log(finishReason, ['happy', 'sad'].includes(review.mood), review.stars <= 5); // 'stop' true true
