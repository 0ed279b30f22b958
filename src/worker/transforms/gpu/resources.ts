/** What a GPU holds for a program: the image, the pixels between its passes, and the tables that they look up. */
import type { DecodedImage, Pixels, Rect, Strips } from '../../../contract/images.js';
import type { Pass } from './passes.js';
import type { Pipelines } from './pipelines.js';
import { BINDINGS, TILE, type PixelSource } from './shaders.js';

/** Rows that are sent at a time: about as many bytes. */
const STRIP_BYTES = 1 << 20;

/** Returns whether a device can hold what a program needs. */
export function fits(
  limits: GPUSupportedLimits,
  { width, height }: Rect,
  passes: readonly Pass[],
  source: PixelSource,
): boolean {
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const groups = limits.maxComputeWorkgroupsPerDimension * TILE;
  const isImageSmall =
    source === 'texture' ? Math.max(width, height) <= limits.maxTextureDimension2D : width * height * 4 <= most;
  return (
    isImageSmall &&
    passes.every(
      (pass) => Math.max(pass.bytes, pass.table.byteLength) <= most && Math.max(pass.width, pass.height) <= groups,
    )
  );
}

/** The resources of one program, for images of one size. Creating and using it never waits. */
export class Resources {
  readonly #device: GPUDevice;
  readonly #window: Rect;
  readonly #passes: readonly Pass[];
  readonly #pipelines: Pipelines;
  readonly #made: (GPUBuffer | GPUTexture)[] = [];
  /** The image, if it is a bitmap. */
  readonly #texture: GPUTexture | undefined;
  /** The image, if its pixels are sent. */
  readonly #words: GPUBuffer | undefined;
  /** What the first pass looks up. */
  readonly #table: GPUBuffer;
  /** The image that was copied or sent last. */
  #shown: WeakRef<DecodedImage> | undefined;
  /** Whether a pixel of the bitmap is transparent. */
  readonly #transparent: GPUBuffer | undefined;
  /** The bindings of each pass but the last, whose result is another buffer each time. */
  readonly #groups: readonly GPUBindGroup[];
  readonly #lastEntries: readonly GPUBindGroupEntry[];

  /** @param window the part of the image that the first pass reads */
  constructor(device: GPUDevice, window: Rect, source: PixelSource, passes: readonly Pass[], pipelines: Pipelines) {
    this.#device = device;
    this.#window = window;
    this.#passes = passes;
    this.#pipelines = pipelines;
    const { width, height } = window;
    const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = GPUBufferUsage;
    if (source === 'texture') {
      this.#texture = device.createTexture({
        size: [width, height],
        format: 'rgba8unorm',
        usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST | GPUTextureUsage.RENDER_ATTACHMENT,
      });
      this.#made.push(this.#texture);
      this.#transparent = this.#buffer(4, STORAGE | COPY_SRC | COPY_DST);
    } else this.#words = this.#buffer(width * height * 4, STORAGE | COPY_DST);

    let input: readonly GPUBindGroupEntry[] = this.#texture
      ? [
          { binding: BINDINGS.source, resource: this.#texture.createView() },
          { binding: BINDINGS.transparent, resource: { buffer: this.#transparent! } },
        ]
      : [{ binding: BINDINGS.source, resource: { buffer: this.#words! } }];
    const groups: GPUBindGroup[] = [];
    const tables = passes.map(({ table }) => this.#filled(table, STORAGE | COPY_DST));
    this.#table = tables[0]!;
    for (const [index, { params, bytes }] of passes.entries()) {
      const entries = [
        ...input,
        { binding: BINDINGS.params, resource: { buffer: this.#filled(params, UNIFORM) } },
        { binding: BINDINGS.lookedUp, resource: { buffer: tables[index]! } },
      ];
      input = entries;
      if (index === passes.length - 1) break;
      const result = this.#buffer(bytes, STORAGE);
      groups.push(this.#group(index, entries, result));
      input = [{ binding: BINDINGS.source, resource: { buffer: result } }];
    }
    this.#groups = groups;
    this.#lastEntries = input;
  }

  /** Returns whether the device has an image already. */
  has(image: DecodedImage): boolean {
    return this.#shown?.deref() === image;
  }

  /** Replaces what the first pass looks up. */
  lookUp(table: Int32Array<ArrayBuffer>): void {
    this.#device.queue.writeBuffer(this.#table, 0, table);
  }

  /** Copies the window of a bitmap, without a conversion of its colors. @throws `DOMException` if it was closed */
  copy(image: DecodedImage, bitmap: ImageBitmap): void {
    const { x, y, width, height } = this.#window;
    this.#device.queue.copyExternalImageToTexture(
      { source: bitmap, origin: [x, y] },
      { texture: this.#texture!, premultipliedAlpha: false, colorSpace: 'srgb' },
      [width, height],
    );
    this.#shown = new WeakRef(image);
  }

  /** Sends the pixels of an image's window, of four bytes each. */
  send(image: DecodedImage, pixels: Pixels | Strips): void {
    const { width, height } = this.#window;
    const row = width * 4;
    const write = (top: number, data: Uint8Array | Uint8ClampedArray, from: number, bytes: number): void =>
      this.#device.queue.writeBuffer(this.#words!, top * row, data as Uint8Array<ArrayBuffer>, from, bytes);
    if ('strip' in pixels) {
      const most = Math.max(1, Math.floor(STRIP_BYTES / row));
      for (let top = 0; top < height; top += most) {
        const rows = Math.min(most, height - top);
        write(top, pixels.strip(top, rows), 0, rows * row);
      }
    } else if (pixels.stride === row) write(0, pixels.data, 0, height * row);
    else for (let top = 0; top < height; top++) write(top, pixels.data, top * pixels.stride, row);
    this.#shown = new WeakRef(image);
  }

  /** Runs the passes. `flag` receives whether a pixel was transparent: 0 or 1, as uint32. */
  submit(result: GPUBuffer, flag: GPUBuffer | undefined): void {
    const encoder = this.#device.createCommandEncoder();
    if (this.#transparent) encoder.clearBuffer(this.#transparent);
    const run = encoder.beginComputePass();
    const last = this.#passes.length - 1;
    for (const [index, { width, height }] of this.#passes.entries()) {
      run.setPipeline(this.#pipelines[index]!);
      run.setBindGroup(0, index === last ? this.#group(last, this.#lastEntries, result) : this.#groups[index]!);
      run.dispatchWorkgroups(Math.ceil(width / TILE), Math.ceil(height / TILE));
    }
    run.end();
    if (this.#transparent && flag) encoder.copyBufferToBuffer(this.#transparent, 0, flag, 0, 4);
    this.#device.queue.submit([encoder.finish()]);
  }

  /** Frees all resources, when the device has done what was submitted. */
  destroy(): void {
    for (const resource of this.#made) resource.destroy();
  }

  #group(pass: number, entries: readonly GPUBindGroupEntry[], result: GPUBuffer): GPUBindGroup {
    return this.#device.createBindGroup({
      layout: this.#pipelines[pass]!.getBindGroupLayout(0),
      entries: [...entries, { binding: BINDINGS.result, resource: { buffer: result } }],
    });
  }

  /** Returns a new buffer. A binding needs at least four bytes, also where nothing is read. */
  #buffer(bytes: number, usage: GPUBufferUsageFlags, mappedAtCreation = false): GPUBuffer {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const buffer = this.#device.createBuffer({ size, usage, mappedAtCreation });
    this.#made.push(buffer);
    return buffer;
  }

  #filled(values: Int32Array, usage: GPUBufferUsageFlags): GPUBuffer {
    const buffer = this.#buffer(values.byteLength, usage, true);
    new Int32Array(buffer.getMappedRange()).set(values);
    buffer.unmap();
    return buffer;
  }
}
