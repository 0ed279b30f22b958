/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const INSTANCE_SEGMENTER_SCHEMA: ConfigSchema = {
  subtask: { enum: ['panoptic', 'instance'], default: 'panoptic' },
  scoreThreshold: { type: 'number', minimum: 0, maximum: 1 },
  maskThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  overlapThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  iouThreshold: { type: 'number', minimum: 0, maximum: 1 },
  maxDetections: { type: 'integer', minimum: 1, maximum: 3000, default: 100 },
  decoder: { enum: ['queries', 'rf-detr', 'torchvision', 'yolov8', 'yolov5', 'rows'], readOnly: true },
  maskSide: { type: 'integer', minimum: 1, readOnly: true },
};
