/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const OBJECT_DETECTOR_SCHEMA: ConfigSchema = {
  decoder: {
    anyOf: [
      { enum: ['torchvision', 'yolov5', 'yolov8', 'yolox', 'ssd', 'rows', 'detr', 'nanodet'] },
      {
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
        properties: {
          torchvision: {
            type: ['object', 'null'],
            properties: {
              outputs: {
                type: 'object',
                properties: { boxes: { type: 'string' }, labels: { type: 'string' }, scores: { type: 'string' } },
              },
              format: { enum: ['xyxy', 'yxyx', 'xywh', 'cxcywh'] },
              unit: { enum: ['pixels', 'fraction'] },
            },
          },
          yolov5: { type: ['object', 'null'], properties: { unit: { enum: ['pixels', 'fraction'] } } },
          yolov8: { type: ['object', 'null'], properties: { unit: { enum: ['pixels', 'fraction'] } } },
          yolox: {
            type: ['object', 'null'],
            properties: {
              strides: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1, maxItems: 100 },
            },
          },
          ssd: {
            type: ['object', 'null'],
            properties: {
              anchors: {
                type: 'object',
                minProperties: 1,
                maxProperties: 1,
                additionalProperties: false,
                properties: {
                  torchvision: {
                    type: 'object',
                    required: ['grids', 'aspectRatios'],
                    properties: {
                      grids: {
                        type: 'array',
                        items: {
                          anyOf: [
                            { type: 'integer', minimum: 1 },
                            { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2, maxItems: 2 },
                          ],
                        },
                        minItems: 1,
                        maxItems: 100,
                      },
                      aspectRatios: {
                        type: 'array',
                        items: { type: 'array', items: { type: 'number', exclusiveMinimum: 0 } },
                        minItems: 1,
                      },
                      scales: { type: 'array', items: { type: 'number', exclusiveMinimum: 0 } },
                      minRatio: { type: 'number', exclusiveMinimum: 0 },
                      maxRatio: { type: 'number', exclusiveMinimum: 0 },
                      steps: { type: 'array', items: { type: 'number', exclusiveMinimum: 0 } },
                    },
                  },
                  tensorflow: {
                    type: 'object',
                    required: ['grids'],
                    properties: {
                      grids: {
                        type: 'array',
                        items: {
                          anyOf: [
                            { type: 'integer', minimum: 1 },
                            { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2, maxItems: 2 },
                          ],
                        },
                        minItems: 1,
                        maxItems: 100,
                      },
                      aspectRatios: { type: 'array', items: { type: 'number', exclusiveMinimum: 0 }, minItems: 1 },
                      minScale: { type: 'number', exclusiveMinimum: 0 },
                      maxScale: { type: 'number', exclusiveMinimum: 0 },
                      reduceLowest: { type: 'boolean' },
                    },
                  },
                  blazeface: {
                    type: 'object',
                    required: ['grids', 'perCell'],
                    properties: {
                      grids: {
                        type: 'array',
                        items: {
                          anyOf: [
                            { type: 'integer', minimum: 1 },
                            { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2, maxItems: 2 },
                          ],
                        },
                        minItems: 1,
                        maxItems: 100,
                      },
                      perCell: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 1000 }, maxItems: 100 },
                    },
                  },
                  file: { type: 'string' },
                },
              },
              outputs: {
                type: 'object',
                properties: {
                  boxes: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] },
                  scores: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] },
                },
              },
              activation: { enum: ['softmax', 'sigmoid', 'none'] },
              background: { enum: ['first', 'last', 'none'] },
              coding: { enum: ['xywh', 'yxhw', 'pixels'] },
              variances: { type: 'array', items: { type: 'number', exclusiveMinimum: 0 }, minItems: 4, maxItems: 4 },
            },
          },
          rows: {
            type: ['object', 'null'],
            properties: {
              columns: {
                type: 'array',
                items: { enum: ['x1', 'y1', 'x2', 'y2', 'w', 'h', 'cx', 'cy', 'score', 'class', 'ignore'] },
              },
              unit: { enum: ['pixels', 'fraction'] },
            },
          },
          detr: {
            type: ['object', 'null'],
            properties: {
              outputs: { type: 'object', properties: { logits: { type: 'string' }, boxes: { type: 'string' } } },
              activation: { enum: ['softmax', 'sigmoid', 'none'] },
              background: { enum: ['first', 'last', 'none'] },
              multiLabel: { type: 'boolean' },
            },
          },
          nanodet: {
            type: ['object', 'null'],
            properties: {
              strides: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1, maxItems: 100 },
              regMax: { type: 'integer', minimum: 1 },
              centerOffset: { type: 'number' },
              outputs: { type: 'array', items: { type: 'string' }, minItems: 1 },
            },
          },
        },
      },
    ],
    default: 'torchvision',
    readOnly: true,
  },
};
