type Bytes = Uint8Array<ArrayBuffer>;

/** Returns a stream with the same bytes. `onBytes` is told how many have come so far, at each chunk. */
export function countBytes(body: ReadableStream<Bytes>, onBytes: (loaded: number) => void): ReadableStream<Bytes> {
  let loaded = 0;
  return body.pipeThrough(
    new TransformStream<Bytes, Bytes>({
      transform(chunk, controller) {
        loaded += chunk.byteLength;
        onBytes(loaded);
        controller.enqueue(chunk);
      },
    }),
  );
}

/** The size of a response's body, where its headers tell: the length of a compressed body says nothing of the bytes that come out of it. */
export function bodySize({ headers }: Response): number | undefined {
  const length = headers.has('content-encoding') ? null : headers.get('content-length');
  return length === null ? undefined : Number(length);
}
