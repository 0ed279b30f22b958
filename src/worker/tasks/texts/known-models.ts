/** Published models of vectors whose repositories often say neither how tokens are pooled nor what prompts there are. */
import { isRecord } from '../../../shared/schema.js';
import type { Pooling } from '../../outputs/embedding.js';

/** What the card of a model says. */
export interface KnownModel {
  readonly pooling: Pooling;
  /** By the names that sentence-transformers gives them. */
  readonly prompts?: Readonly<Record<string, string>>;
}

const RETRIEVAL = 'Represent this sentence for searching relevant passages: ';
const QWEN3 = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:';
const NOMIC = Object.fromEntries(
  ['search_query', 'search_document', 'clustering', 'classification'].map((name) => [name, `${name}: `]),
);

/**
 * By the repository's name in lower case, without its owner: converted models keep the name. The first that matches.
 * @see https://github.com/Anush008/fastembed-rs/blob/main/src/text_embedding/impl.rs `get_default_pooling_method`
 * @see https://github.com/qdrant/fastembed `pooled_embedding.py` (mean), `onnx_embedding.py` (cls)
 * @see https://huggingface.co/BAAI/bge-small-en-v1.5 and the other models' cards, for the prompts
 */
const FAMILIES: readonly (readonly [RegExp, KnownModel])[] = [
  [/^bge-(small|base|large)-en\b/, { pooling: 'cls', prompts: { query: RETRIEVAL } }],
  [/^bge-(small|base|large)-zh\b/, { pooling: 'cls', prompts: { query: '为这个句子生成表示以用于检索相关文章：' } }],
  [/^bge-m3\b/, { pooling: 'cls' }],
  [/^mxbai-embed-(2d-)?large-v1\b/, { pooling: 'cls', prompts: { query: RETRIEVAL } }],
  [/^mxbai-embed-xsmall-v1\b/, { pooling: 'mean', prompts: { query: RETRIEVAL } }],
  [/^snowflake-arctic-embed-[ml]-v2\.0\b/, { pooling: 'cls', prompts: { query: 'query: ' } }],
  [/^snowflake-arctic-embed-(xs|s|m|l)\b/, { pooling: 'cls', prompts: { query: RETRIEVAL } }],
  [/^uae-large-v1\b/, { pooling: 'cls', prompts: { query: RETRIEVAL } }],
  [/^gte-((base|large)-en-v1\.5|multilingual-base|modernbert-base)\b/, { pooling: 'cls' }],
  [/^gte-(small|base|large)$/, { pooling: 'mean' }],
  [
    /^(multilingual-)?e5-(small|base|large)(-v2)?$/,
    { pooling: 'mean', prompts: { query: 'query: ', passage: 'passage: ' } },
  ],
  [/^nomic-embed-text-v1(\.5)?\b|^modernbert-embed-(base|large)\b/, { pooling: 'mean', prompts: NOMIC }],
  [/^jina-embeddings-v2-/, { pooling: 'mean' }],
  [/^granite-embedding-/, { pooling: 'cls' }],
  [/^qwen3-embedding-/, { pooling: 'last-token', prompts: { query: QWEN3 } }],
  [/^(all|paraphrase)(-multilingual)?-(minilm|mpnet|distilroberta)-/, { pooling: 'mean' }],
];

/**
 * Returns what is known of a model by its repository's name, or by the one that `config.json` says it was made from.
 * @param config `config.json`
 */
export function knownModel(repository: string, config: unknown): KnownModel | undefined {
  const from = isRecord(config) ? config['_name_or_path'] : undefined;
  const names = [repository, typeof from === 'string' ? from : ''].map((name) => name.split('/').at(-1)!.toLowerCase());
  for (const name of names) {
    const known = FAMILIES.find(([pattern]) => pattern.test(name));
    if (known) return known[1];
  }
  return undefined;
}
