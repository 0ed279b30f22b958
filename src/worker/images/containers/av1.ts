/**
 * Reads how large the frames of an AV1 stream are: its sequence headers and the start of its frame headers (AV1
 * Bitstream & Decoding Process Specification, 5.3 to 5.9).
 */
import type { Size } from '../facts.js';

const SEQUENCE_HEADER = 1;
const FRAME_HEADER = 3;
const FRAME = 6;
const REDUNDANT_FRAME_HEADER = 7;
const STARTS_FRAME = new Set([FRAME_HEADER, FRAME, REDUNDANT_FRAME_HEADER]);

const KEY_FRAME = 0;
const SWITCH_FRAME = 3;
/** The frame header decides, and not the sequence header. */
const SELECT = 2;

interface Sequence extends Size {
  /** The largest size that a frame can have if it declares one of its own. */
  readonly overridden: Size;
  readonly frame: FrameFields | undefined;
}

/** What the start of a frame header depends on; a reduced header has no such start. */
interface FrameFields {
  readonly timeBits: number;
  readonly idBits: number;
  readonly screenContentTools: number;
  readonly integerMotionVectors: number;
}

/**
 * Returns the largest frame of each sequence header.
 * @throws RangeError if the stream ends within a unit
 */
export function readFrameSizes(bytes: Uint8Array): Size[] {
  const sizes: Size[] = [];
  let sequence: Sequence | undefined;
  for (const { type, data } of units(bytes)) {
    if (type === SEQUENCE_HEADER) {
      sequence = readSequence(new Bits(data));
      sizes.push(sequence);
    } else if (STARTS_FRAME.has(type) && sequence?.frame && overrides(new Bits(data), sequence.frame)) {
      sizes.push(sequence.overridden);
    }
  }
  return sizes;
}

function* units(bytes: Uint8Array): Generator<{ type: number; data: Uint8Array }> {
  for (let at = 0; at < bytes.length;) {
    const header = bytes[at]!;
    at += header & 4 ? 2 : 1;
    let size = bytes.length - at;
    if (header & 2) {
      size = 0;
      for (let i = 0; ; i++) {
        const byte = bytes[at++];
        if (byte === undefined || i === 8) throw new RangeError('the size of an AV1 unit has no end');
        size += (byte & 0x7f) * 2 ** (7 * i);
        if (byte < 0x80) break;
      }
    }
    if (size < 0 || at + size > bytes.length) throw new RangeError('an AV1 unit is longer than its stream');
    yield { type: (header >> 3) & 15, data: bytes.subarray(at, at + size) };
    at += size;
  }
}

function readSequence(bits: Bits): Sequence {
  bits.skip(4); // seq_profile, still_picture
  const reduced = bits.flag();
  let timeBits = 0;
  if (reduced) bits.skip(5);
  else timeBits = skipOperatingPoints(bits);
  const [widthBits, heightBits] = [bits.read(4) + 1, bits.read(4) + 1];
  const size = { width: bits.read(widthBits) + 1, height: bits.read(heightBits) + 1 };
  const overridden = { width: 2 ** widthBits, height: 2 ** heightBits };
  return { ...size, overridden, frame: reduced ? undefined : readFrameFields(bits, timeBits) };
}

/** Returns the bits of a frame's presentation time; zero if frames have none. */
function skipOperatingPoints(bits: Bits): number {
  let [delayBits, timeBits, hasModel] = [0, 0, false];
  if (bits.flag()) {
    bits.skip(64); // num_units_in_display_tick, time_scale
    const equalIntervals = bits.flag();
    if (equalIntervals) bits.skipUvlc();
    hasModel = bits.flag();
    if (hasModel) {
      delayBits = bits.read(5) + 1;
      bits.skip(32 + 5);
      const presentationBits = bits.read(5) + 1;
      timeBits = equalIntervals ? 0 : presentationBits;
    }
  }
  const hasDelays = bits.flag();
  const points = bits.read(5) + 1;
  for (let point = 0; point < points; point++) {
    bits.skip(12);
    if (bits.read(5) > 7) bits.skip(1);
    if (hasModel && bits.flag()) bits.skip(2 * delayBits + 1);
    if (hasDelays && bits.flag()) bits.skip(4);
  }
  return timeBits;
}

function readFrameFields(bits: Bits, timeBits: number): FrameFields {
  let idBits = 0;
  if (bits.flag()) {
    const deltaBits = bits.read(4) + 2;
    idBits = deltaBits + bits.read(3) + 1;
  }
  bits.skip(3 + 4); // from use_128x128_superblock to enable_dual_filter
  if (bits.flag()) bits.skip(2); // enable_order_hint
  const screenContentTools = bits.flag() ? SELECT : bits.read(1);
  const integerMotionVectors = screenContentTools === 0 || bits.flag() ? SELECT : bits.read(1);
  return { timeBits, idBits, screenContentTools, integerMotionVectors };
}

/** Returns whether a frame declares a size of its own (frame_size_override_flag). */
function overrides(bits: Bits, { timeBits, idBits, screenContentTools, integerMotionVectors }: FrameFields): boolean {
  if (bits.flag()) return false; // show_existing_frame
  const type = bits.read(2);
  const shown = bits.flag();
  bits.skip(shown ? timeBits : 1);
  if (type === SWITCH_FRAME) return true;
  if (!(type === KEY_FRAME && shown)) bits.skip(1); // error_resilient_mode
  bits.skip(1); // disable_cdf_update
  const tools = screenContentTools === SELECT ? bits.flag() : screenContentTools === 1;
  if (tools && integerMotionVectors === SELECT) bits.skip(1);
  bits.skip(idBits);
  return bits.flag();
}

/** Reads bits, the most significant first. */
class Bits {
  #at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  /** @param count at most 32 */
  read(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++, this.#at++) {
      const byte = this.bytes[this.#at >> 3];
      if (byte === undefined) throw new RangeError('an AV1 header is too short');
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
    }
    return value;
  }

  flag(): boolean {
    return this.read(1) === 1;
  }

  skip(count: number): void {
    this.#at += count;
  }

  skipUvlc(): void {
    let zeros = 0;
    while (!this.flag()) zeros++;
    this.skip(zeros);
  }
}
