/** Puts blocks of these sizes one after the other in a kernel's memory, with `slack` bytes between them. */
export function place(slack: number, sizes: readonly number[]): { offsets: number[]; bytes: number } {
  let bytes = 0;
  const offsets = sizes.map((size) => {
    const offset = bytes;
    bytes += (size + slack + 15) & ~15;
    return offset;
  });
  return { offsets, bytes };
}
