import {
  BaseHandler,
  expose,
  PredictionError,
  type Context,
  type TensorInput,
  type Tensors,
} from '../../../src/worker.ts';

/** Does in each stage what `params` ask for. */
class Failing extends BaseHandler {
  override async preprocess(data: readonly TensorInput[], context: Context): Promise<Tensors> {
    misbehave('preprocess', data, context);
    const poison = context.params.map((params) => params['failRow']).find((row) => typeof row === 'number');
    if (typeof poison === 'number') context.fail(poison, new RangeError(`row ${poison} is bad`));
    return await super.preprocess(data, context);
  }

  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    misbehave('inference', [], context);
    return await super.inference(inputs, context);
  }

  override async postprocess(outputs: Tensors, context: Context): Promise<readonly unknown[]> {
    misbehave('postprocess', [], context);
    const results = await super.postprocess(outputs, context);
    switch (context.params[0]?.['results']) {
      case 'too-few':
        return results.slice(1);
      case 'none':
        return undefined as never;
      case 'function':
        return results.map((result, index) => (index === 0 ? () => result : result));
      default:
        return results;
    }
  }
}

function misbehave(stage: string, data: readonly TensorInput[], { params }: Context): void {
  const how = params[0] ?? {};
  if (how['throw'] === stage)
    throw Object.assign(new TypeError(`${stage} is broken`, { cause: new Error('deep inside') }), { code: 'E_BROKEN' });
  if (how['throwCoded'] === stage) throw new PredictionError('unsupported', 'not today');
  if (how['throwText'] === stage) throw 'just text';
  // A stage that knows nothing of rows, and throws for the batch because of one.
  if (how['poison'] === stage && data.some((row) => (row as { data: Float32Array }).data[0] === 666))
    throw new RangeError('a poisoned row');
}

expose(Failing);
