import { BaseHandler, expose, type Context, type TensorInput, type Tensors } from '../../../src/worker.ts';

/**
 * Records with all six methods; `params.wrong` asks for what is refused, `params.fail` for a batch that fails after it
 * has recorded.
 */
class Counting extends BaseHandler {
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    context.metrics.addCounter('Initialized');
  }

  override async preprocess(data: readonly TensorInput[], context: Context): Promise<Tensors> {
    const { metrics } = context;
    const { wrong, fail, users = 0 } = context.params[0] as { wrong?: number; fail?: boolean; users?: number };
    metrics.addCounter('Rows', data.length, { labels: { kind: 'tensor' } });
    metrics.addTime('Waiting', 5);
    metrics.addSize('Input', 8, { unit: 'B' });
    metrics.addPercent('Fill', 50);
    metrics.addMetric('Altitude', -3, { unit: 'm', type: 'gauge' });
    for (let user = 0; user < users; user++) metrics.addCounter('Visits', 1, { labels: { user: String(user) } });
    if (wrong !== undefined) metrics.addCounter('Rows', wrong);
    if (fail) {
      metrics.addError('Refused', 'asked to');
      throw new RangeError('asked to');
    }
    return await super.preprocess(data, context);
  }
}

expose(Counting);
