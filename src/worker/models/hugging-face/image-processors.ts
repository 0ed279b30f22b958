/** How the processors of transformers 5.18.0 resize an image, where it is not by the fields alone. */
type Resize =
  | 'convnext'
  | 'levit'
  | 'poolformer'
  | 'dpt'
  | 'yolos'
  | 'glpn'
  | 'zoedepth'
  | 'swin2sr'
  | 'detr'
  | 'rt-detr'
  | 'maskformer'
  | 'sam'
  | 'owlv2'
  | 'dinov3'
  | 'tensor'
  | 'donut'
  | 'textnet'
  | 'transformers.js';

/** The defaults of an image processor's class, for fields that a `preprocessor_config.json` leaves out. */
export interface ImageProcessor {
  readonly size?: Readonly<Record<string, number>>;
  /** What one number as `size` means: a square, or the shorter side. */
  readonly default_to_square: boolean;
  readonly crop_size?: Readonly<Record<string, number>>;
  readonly do_center_crop?: boolean;
  readonly do_normalize?: boolean;
  readonly image_mean?: readonly number[];
  readonly image_std?: readonly number[];
  readonly resample?: number;
  readonly crop_pct?: number;
  readonly include_top?: boolean;
  readonly do_flip_channel_order?: boolean;
  readonly resize?: Resize;
  /** Fields that the class ignores, although its base class has them. */
  readonly ignores?: readonly string[];
  /** The longer side where `size` is one number and `max_size` is missing. */
  readonly max_size?: number;
  readonly size_divisor?: number;
  readonly do_pad?: boolean;
  readonly pad_size?: Readonly<Record<string, number>>;
  readonly keep_aspect_ratio?: boolean;
  readonly ensure_multiple_of?: number;
}

const HALF = { image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] };
const IMAGENET = { image_mean: [0.485, 0.456, 0.406], image_std: [0.229, 0.224, 0.225] };
const CLIP = {
  image_mean: [0.48145466, 0.4578275, 0.40821073],
  image_std: [0.26862954, 0.26130258, 0.27577711],
};
const SQUARE_224 = { height: 224, width: 224 };
const [NEAREST, LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING] = [0, 1, 2, 3, 4, 5];

/** Pillow's numbers for its interpolations. */
export const RESAMPLE: Readonly<Record<number, string>> = {
  [NEAREST!]: 'nearest',
  [LANCZOS!]: 'lanczos',
  [BILINEAR!]: 'bilinear',
  [BICUBIC!]: 'bicubic',
  [BOX!]: 'box',
  [HAMMING!]: 'hamming',
};

const clip: ImageProcessor = {
  size: { shortest_edge: 224 },
  default_to_square: false,
  crop_size: SQUARE_224,
  do_center_crop: true,
  do_normalize: true,
  ...CLIP,
  resample: BICUBIC!,
};
const mobileNet: ImageProcessor = {
  size: { shortest_edge: 256 },
  default_to_square: false,
  crop_size: SQUARE_224,
  do_center_crop: true,
  do_normalize: true,
  ...HALF,
  resample: BILINEAR!,
};
const detr: ImageProcessor = {
  size: { shortest_edge: 800, longest_edge: 1333 },
  default_to_square: false,
  do_normalize: true,
  ...IMAGENET,
  resample: BILINEAR!,
  ignores: ['do_center_crop'],
  max_size: 1333,
};

const maskFormer: ImageProcessor = { ...detr, size_divisor: 32, resize: 'maskformer' };

/**
 * The image processors that are supported, by the name of their class without `ImageProcessor`. A unit test compares
 * them with transformers' own.
 */
export const IMAGE_PROCESSORS: Readonly<Record<string, ImageProcessor>> = {
  Beit: {
    size: SQUARE_224,
    default_to_square: true,
    crop_size: SQUARE_224,
    do_normalize: true,
    ...HALF,
    resample: BICUBIC!,
  },
  Bit: clip,
  CLIP: clip,
  ChineseCLIP: clip,
  ConditionalDetr: { ...detr, resize: 'detr' },
  ConvNext: {
    size: { shortest_edge: 384 },
    default_to_square: false,
    do_normalize: true,
    ...HALF,
    resample: BICUBIC!,
    crop_pct: 0.875,
    resize: 'convnext',
  },
  DPT: {
    size: { height: 384, width: 384 },
    default_to_square: true,
    do_normalize: true,
    ...HALF,
    resample: BICUBIC!,
    keep_aspect_ratio: false,
    resize: 'dpt',
    ignores: ['do_center_crop'],
  },
  DeformableDetr: { ...detr, resize: 'detr' },
  DeiT: {
    size: { height: 256, width: 256 },
    default_to_square: true,
    crop_size: SQUARE_224,
    do_center_crop: true,
    do_normalize: true,
    ...HALF,
    resample: BICUBIC!,
  },
  Detr: { ...detr, resize: 'detr' },
  Donut: {
    size: { height: 2560, width: 1920 },
    default_to_square: true,
    do_normalize: true,
    ...HALF,
    resample: BILINEAR!,
    do_pad: true,
    resize: 'donut',
    ignores: ['do_center_crop'],
  },
  EfficientNet: {
    size: { height: 346, width: 346 },
    default_to_square: true,
    crop_size: { height: 289, width: 289 },
    do_normalize: true,
    ...HALF,
    resample: BICUBIC!,
    include_top: true,
  },
  GLPN: {
    default_to_square: true,
    resample: BILINEAR!,
    size_divisor: 32,
    resize: 'glpn',
    ignores: ['do_center_crop'],
  },
  GroundingDino: { ...detr, resize: 'detr' },
  Levit: {
    size: { shortest_edge: 224 },
    default_to_square: false,
    crop_size: SQUARE_224,
    do_center_crop: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BICUBIC!,
    resize: 'levit',
  },
  Mask2Former: maskFormer,
  MaskFormer: maskFormer,
  MobileNetV1: mobileNet,
  MobileNetV2: mobileNet,
  MobileViT: {
    size: { shortest_edge: 224 },
    default_to_square: false,
    crop_size: { height: 256, width: 256 },
    do_center_crop: true,
    ...HALF,
    resample: BICUBIC!,
    do_flip_channel_order: true,
    ignores: ['do_normalize'],
  },
  OneFormer: detr,
  OwlViT: {
    size: { height: 768, width: 768 },
    default_to_square: true,
    crop_size: { height: 768, width: 768 },
    do_normalize: true,
    ...CLIP,
    resample: BICUBIC!,
  },
  // transformers 5.18.0 pads with black; 4.57, and OWLv2's authors, with gray.
  Owlv2: {
    size: { height: 960, width: 960 },
    default_to_square: true,
    do_normalize: true,
    ...CLIP,
    resample: BILINEAR!,
    do_pad: true,
    resize: 'owlv2',
    ignores: ['do_center_crop'],
  },
  PoolFormer: {
    size: { shortest_edge: 224 },
    default_to_square: false,
    crop_size: SQUARE_224,
    do_center_crop: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BICUBIC!,
    crop_pct: 0.9,
    resize: 'poolformer',
  },
  Pvt: {
    size: SQUARE_224,
    default_to_square: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BICUBIC!,
  },
  RTDetr: {
    size: { height: 640, width: 640 },
    default_to_square: false,
    ...IMAGENET,
    resample: BILINEAR!,
    resize: 'rt-detr',
    ignores: ['do_center_crop'],
  },
  Sam: {
    size: { longest_edge: 1024 },
    default_to_square: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BILINEAR!,
    do_pad: true,
    pad_size: { height: 1024, width: 1024 },
    resize: 'sam',
    ignores: ['do_center_crop'],
  },
  Segformer: {
    size: { height: 512, width: 512 },
    default_to_square: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BILINEAR!,
    ignores: ['do_center_crop'],
  },
  Siglip: {
    size: SQUARE_224,
    default_to_square: false,
    do_normalize: true,
    ...HALF,
    resample: BICUBIC!,
  },
  Swin2SR: {
    default_to_square: true,
    size_divisor: 8,
    do_pad: true,
    resize: 'swin2sr',
    ignores: ['do_resize', 'do_center_crop', 'do_normalize'],
  },
  TextNet: {
    size: { shortest_edge: 640 },
    default_to_square: false,
    crop_size: SQUARE_224,
    do_normalize: true,
    ...IMAGENET,
    resample: BILINEAR!,
    size_divisor: 32,
    resize: 'textnet',
  },
  ViT: {
    size: SQUARE_224,
    default_to_square: true,
    do_normalize: true,
    ...HALF,
    resample: BILINEAR!,
  },
  Yolos: { ...detr, resize: 'yolos' },
  // transformers 5.18.0 makes the multiple 1/32; 4.57, and the models' own files, have 32.
  ZoeDepth: {
    size: { height: 384, width: 512 },
    default_to_square: true,
    do_normalize: true,
    ...HALF,
    resample: BILINEAR!,
    do_pad: true,
    keep_aspect_ratio: true,
    ensure_multiple_of: 32,
    resize: 'zoedepth',
    ignores: ['do_center_crop'],
  },
};

/** Those that transformers has on torchvision only. */
export const TORCHVISION_PROCESSORS: Readonly<Record<string, ImageProcessor>> = {
  DINOv3ViT: {
    size: SQUARE_224,
    default_to_square: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BILINEAR!,
    resize: 'dinov3',
  },
  DepthPro: {
    size: { height: 1536, width: 1536 },
    default_to_square: true,
    do_normalize: true,
    ...HALF,
    resample: BILINEAR!,
    resize: 'tensor',
    ignores: ['do_center_crop', 'do_pad'],
  },
  RfDetr: { ...detr, resize: 'tensor' },
  Sam2: {
    size: { height: 1024, width: 1024 },
    default_to_square: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BILINEAR!,
    ignores: ['do_center_crop'],
  },
  Sam3: {
    size: { height: 1008, width: 1008 },
    default_to_square: true,
    do_normalize: true,
    ...HALF,
    resample: BILINEAR!,
    ignores: ['do_center_crop'],
  },
};

/** Those that cut out people, which `pose_landmarker` does: the steps are for a crop, which has the size already. */
export const CROP_PROCESSORS: Readonly<Record<string, ImageProcessor>> = {
  VitPose: {
    size: { height: 256, width: 192 },
    default_to_square: true,
    do_normalize: true,
    ...IMAGENET,
    resample: BILINEAR!,
    ignores: ['do_center_crop'],
  },
};

/** The processor of transformers.js that has no class of its own in transformers: its files name all fields. */
export const TRANSFORMERS_JS: Readonly<Record<string, ImageProcessor>> = {
  Image: { default_to_square: false, resample: BILINEAR!, resize: 'transformers.js' },
};
