/** How each pipeline is called, and what it returns: as transformers.js 4 has it. */
import type { AudioInput } from '../../contract/audio.js';
import type { ImageInput } from '../../contract/images.js';
import type { ChatMessage } from '../../shared/chat.js';
import type { PipelineTensor } from './tensor.js';

/** A class. */
export interface LabelScore {
  readonly label: string;
  /** In 0..1. */
  readonly score: number;
}

/** A token with its label, or several of one entity. */
export interface FoundEntity {
  /** With `aggregation_strategy: 'none'`, the token's label. */
  readonly entity?: string;
  /** With another one, the label of several tokens. */
  readonly entity_group?: string;
  readonly score: number;
  readonly index?: number;
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** An answer: `context.slice(start, end)`. */
export interface FoundAnswer {
  readonly answer: string;
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

/** A token that may stand in the place of a mask. */
export interface FilledToken {
  readonly score: number;
  readonly token: number;
  readonly token_str: string;
  readonly sequence: string;
}

/** The labels of a text with their scores. */
export interface ZeroShotLabels {
  readonly sequence: string;
  /** Best first. */
  readonly labels: readonly string[];
  readonly scores: readonly number[];
}

/** An object of an image. */
export interface DetectedObject extends LabelScore {
  /** In pixels of the image. */
  readonly box: { readonly xmin: number; readonly ymin: number; readonly xmax: number; readonly ymax: number };
}

/** Pixels, row by row: gray, RGB or RGBA. */
export interface PipelineImage {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
}

/** A part of an image. */
export interface ImageSegment {
  /** Null for the foreground of a model that knows no classes. */
  readonly label: string | null;
  /** In 0..1; null if the model has a class for each pixel. */
  readonly score: number | null;
  /** Of the image's size: 255 where the part is. Of a foreground, its opacity. */
  readonly mask: PipelineImage;
}

/** The answer to a question about a document. */
export interface DocumentAnswer {
  /** Null if the model has written none. */
  readonly answer: string | null;
}

/** How far away each pixel of an image is. */
export interface EstimatedDepth {
  /** What the model predicts for each pixel of the image, [height, width]. */
  readonly predicted_depth: PipelineTensor;
  /** The same in 0..255. */
  readonly depth: PipelineImage;
}

/** Sound that was made of a text. */
export interface SpokenSamples {
  readonly audio: Float32Array;
  readonly sampling_rate: number;
}

/** A part of a transcript. */
export interface SpokenChunk {
  readonly text: string;
  /** In seconds. */
  readonly timestamp: readonly [number, number];
}

/** What is said in a recording. */
export interface Transcript {
  readonly text: string;
  /** With `return_timestamps`. */
  readonly chunks?: readonly SpokenChunk[];
}

type Image = string | URL | ImageInput;
type Sound = string | URL | Float32Array | AudioInput;
/** A call of one input has one result, and one of a list has a list. */
type Each<Input, Result, Rest extends readonly unknown[]> = {
  (input: Input, ...rest: Rest): Promise<Result>;
  (inputs: readonly Input[], ...rest: Rest): Promise<readonly Result[]>;
};
/** The params of generation in transformers' words, such as `max_new_tokens`. */
type Generation = Readonly<Record<string, unknown>>;
/** One result for each text, also of a single one. */
type Written<Key extends string> = (
  texts: string | readonly string[],
  params?: Generation,
) => Promise<readonly Readonly<Record<Key, string>>[]>;
type Labels = string | readonly string[];
interface TopK {
  readonly top_k?: number | null;
}

/** The calls by task. */
export interface PipelineCalls {
  /** Returns a list for each text if `top_k` is not 1. */
  'text-classification'(
    texts: string | readonly string[],
    options?: TopK,
  ): Promise<readonly LabelScore[] | readonly (readonly LabelScore[])[]>;
  'token-classification': Each<
    string,
    readonly FoundEntity[],
    [options?: { readonly aggregation_strategy?: string; readonly ignore_labels?: readonly string[] }]
  >;
  /** Returns a list if `top_k` is not 1. */
  'question-answering'(
    question: string,
    context: string,
    options?: { readonly top_k?: number },
  ): Promise<FoundAnswer | readonly FoundAnswer[]>;
  /** Returns a list of lists for a text with several masks. */
  'fill-mask': Each<
    string,
    readonly FilledToken[] | readonly (readonly FilledToken[])[],
    [options?: { readonly top_k?: number }]
  >;
  'zero-shot-classification': Each<
    string,
    ZeroShotLabels,
    [labels: Labels, options?: { readonly hypothesis_template?: string; readonly multi_label?: boolean }]
  >;
  'feature-extraction'(
    texts: string | readonly string[],
    options: {
      readonly pooling: 'mean' | 'cls' | 'first_token' | 'last_token' | 'eos';
      readonly normalize?: boolean;
    },
  ): Promise<PipelineTensor>;
  summarization: Written<'summary_text'>;
  translation: Written<'translation_text'>;
  'text2text-generation': Written<'generated_text'>;
  /** Returns the prompt and what follows, unless `return_full_text` is false; of a conversation, its messages with the answer. */
  'text-generation'(
    prompt: string | readonly ChatMessage[],
    params?: Generation,
  ): Promise<readonly [{ readonly generated_text: string | readonly ChatMessage[] }]>;
  'image-classification': Each<Image, readonly LabelScore[], [options?: TopK]>;
  'object-detection': Each<Image, readonly DetectedObject[], [options?: { readonly threshold?: number }]>;
  'zero-shot-image-classification': Each<
    Image,
    readonly LabelScore[],
    [labels: Labels, options?: { readonly hypothesis_template?: string }]
  >;
  /** Samples are those of 48 kHz, which CLAP hears. */
  'zero-shot-audio-classification': Each<
    Sound,
    readonly LabelScore[],
    [labels: Labels, options?: { readonly hypothesis_template?: string }]
  >;
  'zero-shot-object-detection': Each<
    Image,
    readonly DetectedObject[],
    [labels: Labels, options?: { readonly threshold?: number; readonly top_k?: number | null }]
  >;
  'image-to-text': Each<Image, readonly { readonly generated_text: string }[], [params?: Generation]>;
  'depth-estimation': Each<Image, EstimatedDepth, []>;
  'background-removal': (images: Image | readonly Image[]) => Promise<readonly PipelineImage[]>;
  /** The thresholds are those of models that find objects and regions one by one. */
  'image-segmentation': Each<
    Image,
    readonly ImageSegment[],
    [
      options?: {
        readonly threshold?: number;
        readonly mask_threshold?: number;
        readonly overlap_mask_area_threshold?: number;
      },
    ]
  >;
  'image-to-image': Each<Image, PipelineImage, []>;
  'document-question-answering'(
    image: Image | readonly [Image],
    question: string,
    params?: Generation,
  ): Promise<readonly [DocumentAnswer]>;
  /** Params are `return_timestamps`, `chunk_length_s`, `language`, `task`, and those of generation. */
  'automatic-speech-recognition': Each<Sound, Transcript, [params?: Generation]>;
  'text-to-audio'(
    text: string,
    options?: { readonly speaker_embeddings?: Float32Array | string | URL; readonly speed?: number },
  ): Promise<SpokenSamples>;
  'audio-classification': Each<Sound, readonly LabelScore[], [options?: TopK]>;
}

/** A task by its name in transformers.js. */
export type PipelineTask = keyof PipelineCalls;
