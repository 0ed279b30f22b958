const BLOCK = 512;
/** Where a header has its checksum: six octal digits, a zero and a space. */
const CHECKSUM = { at: 148, length: 8 };

/** Writes the checksum of each header of a tar file, as a damaged one has none that is right. */
export function writeChecksums(tar: Uint8Array): Uint8Array {
  const file = Uint8Array.from(tar);
  for (let at = 0; at + BLOCK <= file.length; at += BLOCK) {
    const header = file.subarray(at, at + BLOCK);
    if (!isHeader(header)) continue;
    header.fill(0x20, CHECKSUM.at, CHECKSUM.at + CHECKSUM.length);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\0 `), CHECKSUM.at);
  }
  return file;
}

function isHeader(block: Uint8Array): boolean {
  return new TextDecoder().decode(block.subarray(257, 262)) === 'ustar';
}
