import { expose, ImageClassifier } from 'tabserve/worker';

export class Parity extends ImageClassifier {
  async postprocess(outputs, context) {
    const answers = await super.postprocess(outputs, context);
    const even = ['zero', 'two', 'four', 'six', 'eight'];
    return answers.map(([best]) => (even.includes(best.label) ? 'even' : 'odd'));
  }
}

expose(Parity);
