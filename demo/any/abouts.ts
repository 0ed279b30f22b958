/** The pages on which a visitor opens a model of their own. */
import type { About } from './about.js';

export const ABOUTS = {
  'cut-out': {
    title: 'Cut-out',
    summary:
      'Removes the background of a photo, by any model for that. The gallery’s small one knows people only; the models of repositories know things, hair and fur.',
    handler: 'background_remover',
    hint: 'Another model cuts out more than people. Or pick a folder, or drop it on the page.',
    suggestions: [
      {
        id: 'cut-out',
        title: 'Of the Hub',
        sizes: {
          'Xenova/modnet': '7 to 26 MB',
          'onnx-community/BiRefNet_lite-ONNX': '89 to 178 MB',
          'onnx-community/ISNet-ONNX': '44 to 176 MB',
        },
      },
    ],
    own: {
      says: 'MediaPipe Selfie Segmentation (Apache-2.0, 0.5 MB) finds people.',
      url: 'models/selfie/model.onnx',
      config: {
        handler: {
          imageProcessing: [{ resize: [256, 256] }, 'toTensor', { layout: 'NHWC' }],
          output: 'probabilities',
        },
      },
      bytes: 450_650,
    },
  },
  any: {
    title: 'Any model',
    summary:
      'A repository of Hugging Face by its address, or a folder of your own: see what it has and how large it is, then run it in this tab. The handler and its fields follow from its files.',
    hint: 'Write ORG/NAME or an address of huggingface.co, which is asked for the list of files; or pick a folder, or drop it anywhere on the page. The sizes are about those in 8 bits and in full precision.',
    suggestions: [
      {
        id: 'search',
        title: 'Find photos by words',
        sizes: { 'Xenova/mobileclip_s0': '54 to 215 MB', 'Xenova/clip-vit-base-patch32': '152 to 606 MB' },
      },
      {
        id: 'click',
        title: 'Click an object',
        sizes: { 'Xenova/slimsam-77-uniform': '14 to 39 MB' },
      },
      {
        id: 'depth',
        title: 'How far things are',
        sizes: { 'onnx-community/depth-anything-v2-small': '27 to 99 MB' },
      },
      {
        id: 'entities',
        title: 'Names in a text',
        sizes: { 'Xenova/bert-base-NER': '108 to 431 MB' },
      },
      {
        id: 'questions',
        title: 'Answers in a text',
        sizes: { 'Xenova/distilbert-base-cased-distilled-squad': '66 to 261 MB' },
      },
      {
        id: 'ranking',
        title: 'Texts by meaning',
        sizes: { 'sentence-transformers/all-MiniLM-L6-v2': '90 MB', 'Xenova/bge-small-en-v1.5': '34 to 133 MB' },
      },
      {
        id: 'speech',
        title: 'Speech',
        sizes: { 'onnx-community/whisper-tiny.en': '40 to 151 MB' },
      },
      {
        id: 'chat',
        title: 'Chats',
        sizes: { 'HuggingFaceTB/SmolLM2-135M-Instruct': '137 to 539 MB' },
      },
    ],
  },
} as const satisfies Readonly<Record<string, About>>;
/** The pages, by the hash of their address. */
export type OwnPage = keyof typeof ABOUTS;
