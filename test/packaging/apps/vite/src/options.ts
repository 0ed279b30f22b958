import type { ClientOptions } from 'tabserve';

/** An app would write its options down; this one takes them from its address: `?assets=/ort/` or `?threads=2`. */
const query = new URLSearchParams(location.search);
const assets = query.get('assets');
const threads = query.get('threads');

export const options: Omit<ClientOptions, 'model'> = {
  ...(assets && { assets }),
  ...(threads && { config: { engine: { threads: Number(threads) } } }),
};
