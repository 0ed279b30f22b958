import {
  BaseHandler,
  expose,
  PredictionError,
  tensors,
  unwrap,
  type Context,
  type ImageInput,
  type NodeHandler,
  type Tensor,
  type TensorInput,
  type Tensors,
} from '../../../src/worker.ts';
import { happen } from './happen.ts';

export type { Fault } from './happen.ts';

/**
 * Does in each stage what `params.fault` asks for, and sends the numbers up to `params.parts` before the result. An
 * image becomes a tensor of its first pixel, and its width. A row with `params.double` gets twice what the node `twin`
 * answers. A row of a sequence gets its place in the sequence, from 1.
 */
class Faulty extends BaseHandler<TensorInput | ImageInput> {
  #twin: NodeHandler<BaseHandler> | undefined;

  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    if (context.modelYamlConfig.nodes) this.#twin = await context.openHandler('twin', BaseHandler);
  }

  override async preprocess(data: readonly (TensorInput | ImageInput)[], context: Context): Promise<Tensors> {
    await happen('preprocess', context);
    return await super.preprocess(await Promise.all(data.map((input) => firstPixel(input, context))), context);
  }

  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    await happen('inference', context);
    const outputs = await super.inference(inputs, context);
    const { name } = this.outputInfo;
    const rows = await Promise.all(
      context.params.map(async ({ double }, index) =>
        double ? await this.#double(inputs, index, context) : tensors.row(outputs[name]!, index),
      ),
    );
    return { ...outputs, [name]: tensors.stack(rows) };
  }

  async #double(inputs: Tensors, index: number, context: Context): Promise<Tensor> {
    const [answer] = await this.#twin!.handle([tensors.row(inputs[this.inputInfo.name]!, index)], context);
    if (answer instanceof PredictionError) throw answer;
    const once = answer![this.outputInfo.name] as Tensor<'float32'>;
    return { ...once, data: once.data.map((value) => 2 * value) };
  }

  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Tensors[]> {
    const { parts = 0 } = context.params[0] as { readonly parts?: number };
    if (parts > 0) await context.send(0, 1);
    await happen('postprocess', context);
    for (let part = 2; part <= parts; part++) await context.send(0, part);
    const rows = await super.postprocess(outputs, context);
    return rows.map((row, index) => {
      if (context.sequenceId(index) === undefined) return row;
      const place = ((context.state(index) as number | undefined) ?? 0) + 1;
      context.setState(index, place);
      return { ...row, place: tensors.from({ data: Float32Array.of(place), dims: [1] }) };
    });
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
