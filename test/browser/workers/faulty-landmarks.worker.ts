import { expose, FaceLandmarker, HandLandmarker, PoseLandmarker, type Context } from '../../../src/worker.ts';
import type { ImageInput } from '../../../src/contract/images.ts';
import { happen } from './happen.ts';

/** The built-in landmarkers, but a request may end their worker. The worker's name says which one. */
const FAULTY = {
  face: class extends FaceLandmarker {
    override async inference(photos: readonly ImageInput[], context: Context) {
      await happen('inference', context);
      return await super.inference(photos, context);
    }
  },
  hand: class extends HandLandmarker {
    override async inference(photos: readonly ImageInput[], context: Context) {
      await happen('inference', context);
      return await super.inference(photos, context);
    }
  },
  pose: class extends PoseLandmarker {
    override async inference(photos: readonly ImageInput[], context: Context) {
      await happen('inference', context);
      return await super.inference(photos, context);
    }
  },
};

expose(FAULTY[self.name as keyof typeof FAULTY]);
