import { expose, ImageClassifier } from 'tabserve/worker';

const EVEN = new Set(['zero', 'two', 'four', 'six', 'eight']);

export class Parity extends ImageClassifier {
  async postprocess(outputs, context) {
    const answers = await super.postprocess(outputs, context);
    return answers.map(([best]) => (EVEN.has(best?.label) ? 'even' : 'odd'));
  }
}

expose(Parity);
