/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const FACE_DETECTOR_SCHEMA: ConfigSchema = {
  scoreThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  iouThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.3 },
  maxDetections: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  anchors: {
    type: 'object',
    required: ['grids', 'perCell'],
    properties: {
      grids: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 512 }, minItems: 1, maxItems: 8 },
      perCell: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 16 }, minItems: 1, maxItems: 8 },
    },
    default: { grids: [16, 8], perCell: [2, 6] },
    readOnly: true,
  },
  points: {
    type: 'array',
    items: { type: 'string' },
    default: ['rightEye', 'leftEye', 'noseTip', 'mouth', 'rightEar', 'leftEar'],
    readOnly: true,
  },
};

export const FACE_LANDMARKER_SCHEMA: ConfigSchema = {
  outputs: {
    type: 'object',
    properties: { landmarks: { type: 'string' }, presence: { type: 'string' } },
    readOnly: true,
  },
};

export const HAND_LANDMARKER_SCHEMA: ConfigSchema = {
  outputs: {
    type: 'object',
    properties: { landmarks: { type: 'string' }, presence: { type: 'string' }, handedness: { type: 'string' } },
    readOnly: true,
  },
};

export const LANDMARK_WORKFLOW_SCHEMA: ConfigSchema = {
  detectionThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  scoreThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  maxDetections: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  detectEvery: { type: 'integer', minimum: 1, maximum: 10000, default: 10 },
  smoothing: { type: 'boolean', default: true },
  exifOrientation: { type: 'boolean', default: true },
  background: {
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: 255 },
    minItems: 3,
    maxItems: 3,
    default: [255, 255, 255],
  },
};

export const POSE_LANDMARKER_SCHEMA: ConfigSchema = {
  mask: { type: 'boolean', default: false },
  scoreThreshold: { type: 'number', minimum: 0, maximum: 1 },
  outputs: {
    type: 'object',
    properties: {
      landmarks: { type: 'string' },
      presence: { type: 'string' },
      heatmap: { type: 'string' },
      mask: { type: 'string' },
    },
    readOnly: true,
  },
  decoder: { enum: ['blazepose', 'movenet', 'yolov8', 'rows', 'simcc', 'heatmaps'], readOnly: true },
};
