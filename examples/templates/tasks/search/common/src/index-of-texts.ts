import { nearest } from 'tabserve';
import { model } from './model.ts';

/** A text, and how near its meaning is to that of the query, from -1 to 1. */
export interface Found {
  readonly text: string;
  readonly score: number;
}

/** Returns a search over the texts, the vector of each of which it computes once. */
export async function indexOf(texts: readonly string[]): Promise<(query: string) => Promise<Found[]>> {
  const vectors = (await model.handle(texts)).map((row) => {
    if (row instanceof Error) throw row;
    return row;
  });
  return async (query) => {
    const found = nearest(await model.predict(query), vectors, 3);
    return found.map(({ index, score }) => ({ text: texts[index]!, score }));
  };
}
