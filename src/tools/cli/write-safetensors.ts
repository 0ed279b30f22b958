import { dtypeInfo } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { Tensor } from '../../contract/tensors.js';

/**
 * Writes a `.safetensors` file: the header's length as a 64-bit little-endian number, a JSON header, then the tensors'
 * bytes. Format: huggingface.co/docs/safetensors. Node runs on little-endian machines only.
 * @param metadata text by key, stored as `__metadata__`
 * @throws `unsupported` for a tensor of strings, which the format does not support
 */
export function writeSafetensors(
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const [name, { dtype, dims, data }] of Object.entries(tensors)) {
    const code = dtypeInfo(dtype)?.safetensors;
    if (code === undefined || !ArrayBuffer.isView(data))
      throw new TabServeError('unsupported', `"${name}" is of dtype ${dtype}, which a .safetensors file cannot hold.`);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    header[name] = { dtype: code, shape: dims, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    parts.push(bytes);
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Readers expect the tensors at a multiple of eight bytes; spaces fill the gap.
  const padded = Math.ceil(json.length / 8) * 8;
  const file = new Uint8Array(8 + padded + end).fill(0x20, 8, 8 + padded);
  new DataView(file.buffer).setBigUint64(0, BigInt(padded), true);
  file.set(json, 8);
  let at = 8 + padded;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}
