import { cosineSimilarity, embedMany } from 'ai';
import { load } from 'tabserve';
import { tabserveEmbedding } from 'tabserve/ai-sdk';

const client = await load('https://huggingface.co/Xenova/all-MiniLM-L6-v2', { handler: 'text_feature_extractor' });
const { embeddings } = await embedMany({
  model: tabserveEmbedding(client),
  values: ['a warm day', 'a warm day'],
});
console.log(cosineSimilarity(embeddings[0]!, embeddings[1]!).toFixed(3)); // 1.000
