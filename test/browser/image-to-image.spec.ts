import type { Picture } from '../../src/index.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

/** By PyTorch in float64: `training/upscaler.py`. */
const { cases } = readGoldens<{
  readonly cases: readonly {
    readonly sample: string;
    readonly dims: readonly number[];
    readonly stride: number;
    readonly pixels: readonly number[];
  }[];
}>('../models/upscaler.golden.json');

for (const engine of ['onnx', 'tfjs'] as const) {
  test(`a photo is enlarged on ${engine} as in Python, tiled as untiled${engine === 'onnx' ? ' @wasm' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    const candidate = `${engine}/${backend}` as const;
    test.skip(candidate === 'onnx/webgl', 'ONNX Runtime WebGL: no dynamic dims');
    test.slow(backend !== 'wasm');
    const page = await open();
    const [{ sample, dims, stride, pixels }] = cases as [(typeof cases)[number]];
    const found = await page.evaluate(
      async ({ candidate, sample, stride }) => {
        const client = await window.tabserve.load('/models/upscaler/', {
          handler: 'image_to_image',
          backends: [candidate],
        });
        const photo = await (await fetch(`/models/upscaler/samples/${sample}`)).blob();
        const rgb = ({ data }: Picture): number[] => [...data].filter((_, index) => index % 4 < 3);
        const whole = await client.predict(photo, { params: { tileSize: 128 } });
        const tiled = await client.predict(photo, { params: { tileSize: 70 } });
        const larger = await client.predict(photo, { params: { tileSize: 4096, overlap: 100 } });
        const image = window.tabserve.paintPicture(tiled);
        const apart = whole.data.reduce(
          (most, value, index) => Math.max(most, Math.abs(value - tiled.data[index]!)),
          0,
        );
        await client.dispose();
        return {
          size: [image.height, image.width, 3],
          every: rgb(whole).filter((_, index) => index % stride === 0),
          apart,
          same: larger.data.every((value, index) => value === whole.data[index]),
        };
      },
      { candidate, sample, stride },
    );
    expect(found.size).toEqual(dims);
    const worst = Math.max(...pixels.map((value, index) => Math.abs(value - found.every[index]!)));
    expect(found.every).toHaveLength(pixels.length);
    expect(worst).toBeLessThanOrEqual(1);
    console.log(`${candidate}: ${worst} of 255 from Python, tiled ${found.apart} from untiled`);
    expect(found.apart).toBeLessThanOrEqual(1);
    expect(found.same, 'a tile that is larger than the photo').toBe(true);
  });
}
