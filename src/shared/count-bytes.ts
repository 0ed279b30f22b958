type Bytes = Uint8Array<ArrayBuffer>;

/** Returns a stream with the same bytes. Calls `onBytes` at each chunk with the number of bytes so far. */
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

/** Returns the size of a response's body; undefined if its headers do not say. The length of a compressed body is not the size of its contents. */
export function bodySize({ headers }: Response): number | undefined {
  const length = headers.has('content-encoding') ? null : headers.get('content-length');
  return length === null ? undefined : Number(length);
}
