import { expose, softmax, VisionHandler, type Context, type ImageExplanation, type Tensors } from 'tabserve/worker';

/** Explains by how much the best class is ahead of the second. */
export class Contrast extends VisionHandler {
  override async getInsights(inputs: Tensors, _data: unknown, context: Context): Promise<ImageExplanation[]> {
    return await this.explainImages(inputs, context, (outputs, rows) => {
      const { data, dims } = outputs[this.outputInfo.name]!;
      return Array.from({ length: rows }, (_, row) => {
        const [first, second] = softmax((data as Float32Array).subarray(row * dims[1]!, (row + 1) * dims[1]!)).sort(
          (a, b) => b - a,
        );
        return [first! - second!];
      });
    });
  }
}

expose(Contrast);
