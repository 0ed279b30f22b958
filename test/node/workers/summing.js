import { BaseHandler, expose } from 'tabserve/worker';

/** Answers with the sum of the numbers of a sequence. `test/goldens/interop/summing.py` is its twin on TorchServe. */
expose(
  class extends BaseHandler {
    async handle(rows, context) {
      return rows.map((row, index) => {
        const sum = (context.state(index) ?? 0) + Number(row);
        context.setState(index, sum);
        return sum;
      });
    }
  },
);
