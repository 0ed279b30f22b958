import { expose, ObjectDetector, type DetectionDecoder, type ModelFacts } from 'tabserve/worker';

/** One output, [batch, faces, 5]: x, y, width, height and score, in pixels of the tensor. */
export class FaceDetector extends ObjectDetector {
  protected override createDecoder({ output }: ModelFacts): DetectionDecoder {
    return {
      outputs: [output.name],
      isBatched: true,
      classes: 1,
      iouThreshold: 0.5,
      decode([faces]) {
        const count = faces!.dims[0]!;
        const at = (face: number, column: number): number => faces!.data[face * 5 + column]!;
        return {
          scores: Float64Array.from({ length: count }, (_, face) => at(face, 4)),
          classes: new Int32Array(count),
          box: (face) => ({
            xmin: at(face, 0),
            ymin: at(face, 1),
            xmax: at(face, 0) + at(face, 2),
            ymax: at(face, 1) + at(face, 3),
          }),
        };
      },
    };
  }
}

expose(FaceDetector);
