import { TabServeError } from '../../../contract/errors.js';
import type { Schema } from '../../../shared/schema.js';
import type { DetectionDecoder, Format, ModelFacts } from './decoder.js';
import { detr } from './detr.js';
import { nanodet } from './nanodet.js';
import { rows } from './rows.js';
import { ssd } from './ssd.js';
import { torchvision } from './torchvision.js';
import { yolov5 } from './yolov5.js';
import { yolov8 } from './yolov8.js';
import { yolox } from './yolox.js';

/** All formats by their name in a config. */
export const FORMATS = { torchvision, yolov5, yolov8, yolox, ssd, rows, detr, nanodet } as const;
export type FormatName = keyof typeof FORMATS;

const NAMES = Object.keys(FORMATS) as FormatName[];

/** The JSON Schema of `handler.decoder`. */
export const decoderSchema: Schema = {
  anyOf: [
    { enum: NAMES },
    {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
      properties: Object.fromEntries(
        NAMES.map((name) => {
          const { description, options: properties } = FORMATS[name];
          return [name, { type: ['object', 'null'], description, properties }];
        }),
      ),
    },
  ],
};

/** The default IoU threshold of each format, as text. */
export const DEFAULT_THRESHOLDS = NAMES.map((name) => `${name} ${FORMATS[name].iouThreshold}`).join(', ');

/**
 * Creates the decoder that a config names, with its default IoU threshold. The config has a name or
 * `{ name: options }`.
 * @throws `model-config` if the decoder does not fit the model's outputs
 */
export async function createDecoder(value: unknown, model: ModelFacts): Promise<DetectionDecoder> {
  const [[name, options] = []] =
    typeof value === 'string' ? [[value, {}] as const] : Object.entries(value as Record<string, object | null>);
  const format = FORMATS[name as FormatName] as Format<object>;
  const decoder = await format.create(options ?? {}, model);
  const text = model.outputs.find(({ name, dtype }) => dtype === 'string' && decoder.outputs.includes(name));
  if (text)
    throw new TabServeError(
      'model-config',
      `handler.decoder: ${name} reads numbers; the model gives strings in "${text.name}". Name another output in handler.outputName or in the decoder's outputs.`,
    );
  return { ...decoder, iouThreshold: format.iouThreshold };
}
