import {
  BaseHandler,
  expose,
  unwrap,
  type Context,
  type ImageInput,
  type TensorInput,
  type Tensors,
} from '../../../src/worker.ts';
import { happen } from './happen.ts';

export type { Fault } from './happen.ts';

/** Does in each stage what `params.fault` asks for, and sends the numbers up to `params.parts` before the result. An image becomes a tensor of its first pixel, and its width. */
class Faulty extends BaseHandler<TensorInput | ImageInput> {
  override async preprocess(data: readonly (TensorInput | ImageInput)[], context: Context): Promise<Tensors> {
    await happen('preprocess', context);
    return await super.preprocess(await Promise.all(data.map((input) => firstPixel(input, context))), context);
  }

  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    await happen('inference', context);
    return await super.inference(inputs, context);
  }

  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Tensors[]> {
    const { parts = 0 } = context.params[0] as { readonly parts?: number };
    if (parts > 0) await context.send(0, 1);
    await happen('postprocess', context);
    for (let part = 2; part <= parts; part++) await context.send(0, part);
    return await super.postprocess(outputs, context);
  }
}

async function firstPixel(row: TensorInput | ImageInput, context: Context): Promise<TensorInput> {
  const input = unwrap<TensorInput | ImageInput>(row);
  if (!(input instanceof Blob || input instanceof ImageBitmap || input instanceof VideoFrame))
    return row as TensorInput;
  const image = await context.decodeImage(input);
  const { data, format } = await image.read({ x: 0, y: 0, width: 1, height: 1 });
  const [red, green, blue] = format.startsWith('BGR') ? [data[2]!, data[1]!, data[0]!] : [...data];
  const pixel = { data: Float32Array.of(red!, green!, blue!, image.width), dims: [4] };
  image.close();
  return pixel;
}

expose(Faulty);
