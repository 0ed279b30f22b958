/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const PEOPLE = {
  face_detector: {
    load: async () => (await import('./face-detector.js')).FaceDetector,
    takes: 'image',
    processor: 'image',
  },
  face_landmarker: {
    load: async () => (await import('./face-landmarker.js')).FaceLandmarker,
    takes: 'image',
  },
  hand_landmarker: {
    load: async () => (await import('./hand-landmarker.js')).HandLandmarker,
    takes: 'image',
  },
  pose_landmarker: {
    load: async () => (await import('./pose-landmarker.js')).PoseLandmarker,
    takes: 'image',
    architectures: ['ForPoseEstimation'],
    processor: 'image',
    nodes: { landmarks: ['model'] },
    nodeProcessors: { landmarks: 'image' },
    nearest: [
      { order: 70, reads: 'images', outputs: ['heatmaps'] },
      { order: 72, reads: 'images', main: { rank: 4, ends: [17, 3] } },
      { order: 74, reads: 'images', main: { rank: 3, ends: [6, 56] } },
    ],
    ultralytics: 'pose',
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
