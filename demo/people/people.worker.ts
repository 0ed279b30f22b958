/** Serves the handler that the worker is named after. A worker of the page's own, so that the page can kill it. */
import { expose, FaceLandmarker, HandLandmarker, PoseLandmarker } from '../../src/worker.js';

const HANDLERS = {
  face_landmarker: FaceLandmarker,
  hand_landmarker: HandLandmarker,
  pose_landmarker: PoseLandmarker,
} as const;

expose(HANDLERS[self.name as keyof typeof HANDLERS]);
