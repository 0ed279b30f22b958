import { BaseHandler, expose, type Context, type TensorInput, type Tensors } from '../../../src/worker.ts';

/** The session itself: feeds in, outputs out, dims as the model has them. */
class Raw extends BaseHandler {
  override preprocess(data: readonly TensorInput[]): Tensors {
    return data[0] as Tensors;
  }

  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    return context.requestIds.length > 0 ? await this.model.run(inputs) : {};
  }

  override postprocess(outputs: Tensors): readonly Tensors[] {
    return [outputs];
  }

  override async describeHandle(context: Context): Promise<string> {
    return context.systemProperties.backend;
  }
}

expose(Raw);
