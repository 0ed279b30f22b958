import { compose, expose, layout, resize, toTensor, VisionHandler, type Context, type Tensors } from 'tabserve/worker';

/** The middle of a person, in pixels of the photo. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export class PersonFinder extends VisionHandler {
  override imageProcessing = compose(resize([256, 256]), toTensor(), layout('NHWC'));

  /** The model's mask, [rows, 256, 256, 1] → the mean of all pixels, weighted by how likely each is a person's. */
  override postprocess(outputs: Tensors, context: Context): Point[] {
    const masks = outputs[this.outputInfo.name]!.data as Float32Array;
    return Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const mask = masks.subarray(index * 256 * 256, (index + 1) * 256 * 256);
      let [x, y, sum] = [0, 0, 0];
      for (const [i, weight] of mask.entries()) {
        x += ((i % 256) + 0.5) * weight;
        y += (Math.floor(i / 256) + 0.5) * weight;
        sum += weight;
      }
      const placement = this.placement(index, context);
      if (!placement) return { x: NaN, y: NaN }; // This row has failed in preprocess: its result will be the error.
      const { scaleX, scaleY, offsetX, offsetY } = placement.geometry;
      return { x: (x / sum - offsetX) / scaleX, y: (y / sum - offsetY) / scaleY };
    });
  }
}

expose(PersonFinder);
