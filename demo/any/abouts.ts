/** The pages for which the visitor brings the model. */
import { el } from '../page/dom.js';
import type { About } from './about.js';
import { marked } from './views/marked.js';

const OWN = 'The gallery has no model for this: bring one.';

export const ABOUTS = {
  depth: {
    title: 'Depth',
    summary: `Estimates how far each part of a photo is. ${OWN}`,
    handler: 'depth_estimator',
    hint: 'It needs a model of depth estimation. Or pick a folder, or drop it on the page.',
    examples: ['onnx-community/depth-anything-v2-small', 'Xenova/dpt-hybrid-midas'],
  },
  'cut-out': {
    title: 'Cut-out',
    summary:
      'Removes the background of a photo, by any model for that. The gallery’s small one knows people only; the models of repositories know things, hair and fur.',
    handler: 'background_remover',
    hint: 'Another model cuts out more than people. Or pick a folder, or drop it on the page.',
    examples: ['Xenova/modnet', 'onnx-community/BiRefNet_lite-ONNX', 'onnx-community/ISNet-ONNX'],
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
  click: {
    title: 'Click',
    summary: `Click an object in a photo: the model finds its outline. The photo is encoded once, and each click is quick. ${OWN}`,
    handler: 'promptable_segmenter',
    hint: 'It needs a vision_encoder.onnx and a prompt_encoder_mask_decoder.onnx. Or pick a folder, or drop it on the page.',
    examples: ['Xenova/slimsam-77-uniform'],
  },
  search: {
    title: 'Search',
    summary: `Finds photos by words, yours among them: a model such as CLIP compares texts with images. ${OWN}`,
    handler: 'image_text_embedder',
    hint: 'It needs a vision_model.onnx and a text_model.onnx. Or pick a folder, or drop it on the page.',
    examples: ['Xenova/mobileclip_s0', 'Xenova/clip-vit-base-patch32'],
  },
  entities: {
    title: 'Entities',
    summary: `Finds names in a text: of people, places and organizations, or whatever the model was trained for. ${OWN}`,
    handler: 'token_classifier',
    hint: 'It needs a model of token classification. Or pick a folder, or drop it on the page.',
    examples: ['Xenova/bert-base-NER'],
    example: () =>
      byHand(
        marked('Ada Lovelace lived in London.', [
          { start: 0, end: 12, label: 'PER', color: '#4fd1a5' },
          { start: 22, end: 28, label: 'LOC', color: '#ffb454' },
        ]),
      ),
  },
  questions: {
    title: 'Questions',
    summary: `Answers a question by a part of a text. ${OWN}`,
    handler: 'question_answerer',
    hint: 'It needs a model of question answering. Or pick a folder, or drop it on the page.',
    examples: ['Xenova/distilbert-base-cased-distilled-squad'],
    example: () =>
      byHand(marked('Ada Lovelace lived in London.', [{ start: 22, end: 28, label: 'answer', color: '#4fd1a5' }])),
  },
  any: {
    title: 'Any model',
    summary:
      'A repository of Hugging Face by its address, or a folder of your own: see what it has and how large it is, then run it in this tab. The handler and its fields follow from its files.',
    hint: 'Write ORG/NAME or an address of huggingface.co, which is asked for the list of files; or pick a folder, or drop it anywhere on the page.',
    examples: [
      'sentence-transformers/all-MiniLM-L6-v2',
      'Xenova/bge-small-en-v1.5',
      'onnx-community/whisper-tiny.en',
      'HuggingFaceTB/SmolLM2-135M-Instruct',
    ],
  },
} as const satisfies Readonly<Record<string, About>>;
/** The pages, by the hash of their address. */
export type OwnPage = keyof typeof ABOUTS;

/** Shows the form of an answer, and that no model has made it. */
function byHand(example: HTMLElement): HTMLElement {
  return el('div', {}, el('p', { class: 'advice' }, 'Written by hand, to show the form of an answer:'), example);
}
