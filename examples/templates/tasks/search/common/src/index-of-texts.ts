import { nearest, type Embedding } from 'tabserve';

/** A text, and how near its meaning is to that of the query, from -1 to 1. */
export interface Found {
  readonly text: string;
  readonly score: number;
}

export type Search = (query: string) => Promise<Found[]>;

/** What makes the vectors: a client whose model is loaded. */
export interface Embedder {
  handle(texts: readonly string[]): Promise<readonly (Embedding | Error)[]>;
  predict(text: string): Promise<Embedding>;
}

/** Returns a search over the texts, the vector of each of which it computes once. */
export async function indexOf(texts: readonly string[], model: Embedder): Promise<Search> {
  const vectors = (await model.handle(texts)).map((row) => {
    if (row instanceof Error) throw row;
    return row;
  });
  return async (query) => {
    const found = nearest(await model.predict(query), vectors, 3);
    return found.map(({ index, score }) => ({ text: texts[index]!, score }));
  };
}
