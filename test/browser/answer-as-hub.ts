import { readdirSync, statSync } from 'node:fs';
import type { BrowserContext } from '@playwright/test';

/** Repositories of Hugging Face that samples name, and the tests' small models that answer in their place. */
const REPOSITORIES: Readonly<Record<string, string | readonly string[]>> = {
  'HuggingFaceTB/SmolLM2-135M-Instruct': 'test/models/generation/llama/',
  'HuggingFaceTB/SmolVLM-256M-Instruct': 'test/models/pictures/smolvlm/',
  'Xenova/all-MiniLM-L6-v2': 'test/models/tasks/embed-minilm/',
  'Xenova/ast-finetuned-audioset-10-10-0.4593': 'test/models/tasks/sound-ast/',
  'Xenova/bge-small-en-v1.5': 'test/models/tasks/embed-minilm/',
  'Xenova/bert-base-NER': 'test/models/tasks/tokens-bert/',
  'Xenova/bert-base-uncased': 'test/models/tasks/fill-mask-bert/',
  // Whole for one handler, and in parts for another one.
  'Xenova/clap-htsat-unfused': ['test/models/tasks/sounds-clap/', 'test/models/tasks/embed-clap/'],
  'Xenova/clip-vit-base-patch32': 'test/models/tasks/images-clip/',
  'Xenova/detr-resnet-50-panoptic': 'test/models/tasks/instance-maskformer/',
  'Xenova/distilbert-base-cased-distilled-squad': 'test/models/tasks/answer-distilbert/',
  'Xenova/donut-base-finetuned-docvqa': 'test/models/tasks/documents-donut/',
  'Xenova/mms-tts-eng': 'test/models/tasks/speak-vits/',
  'Xenova/mobilebert-uncased-mnli': 'test/models/tasks/zero-shot-bert/',
  'Xenova/mobileclip_s0': 'test/models/tasks/embed-mobileclip/',
  'Xenova/modnet': 'test/models/tasks/background-modnet/',
  'Xenova/ms-marco-MiniLM-L-6-v2': 'test/models/tasks/rerank-bert/',
  'Xenova/nllb-200-distilled-600M': 'test/models/generation/nllb/',
  'Xenova/owlvit-base-patch32': 'test/models/tasks/find-owl-vit/',
  'Xenova/slimsam-77-uniform': 'test/models/tasks/prompt-sam/',
  'Xenova/vit-base-patch16-224': 'test/models/tasks/image-vit/',
  'Xenova/vit-gpt2-image-captioning': 'test/models/tasks/caption-vit-gpt2/',
  'istupakov/parakeet-tdt-0.6b-v2-onnx': 'test/models/tasks/speech-nemo-tdt/',
  'onnx-community/GLM-OCR-ONNX': 'test/models/pictures/glm-ocr/',
  'onnx-community/Supertonic-TTS-2-ONNX': 'test/models/tasks/speak-supertonic-js/',
  'onnx-community/Voxtral-Mini-3B-2507-ONNX': 'test/models/sounds/voxtral/',
  'onnx-community/Florence-2-base-ft': 'test/models/tasks/prompted-florence2/',
  'onnx-community/gemma-4-E2B-it-ONNX': 'test/models/pictures/gemma4/',
  'onnx-community/depth-anything-v2-small': 'test/models/tasks/depth-anything/',
  'onnx-community/pyannote-segmentation-3.0': 'test/models/tasks/diarize-alone/',
  'onnx-community/wespeaker-voxceleb-resnet34-LM': 'test/models/tasks/speaker-wespeaker/',
  'onnx-community/whisper-tiny': 'test/models/tasks/write-whisper/',
  'onnx-community/whisper-tiny.en': 'test/models/tasks/write-whisper/',
  'onnx-community/whisper-tiny_timestamped': 'test/models/tasks/write-whisper-words/',
  'sentence-transformers/all-MiniLM-L6-v2': 'test/models/tasks/embed-minilm/',
};

/** Answers as huggingface.co does, with these repositories. */
export async function answerAsHub(context: BrowserContext): Promise<void> {
  for (const [name, folders] of Object.entries(REPOSITORIES)) {
    /** Where each file is; of several with one path, the first. */
    const files = new Map<string, string>();
    for (const folder of [folders].flat())
      for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
        if (/\.\w+$/.test(path) && !files.has(path)) files.set(path, folder + path);
    const siblings = Array.from(files, ([path, file]) => ({
      rfilename: path,
      size: statSync(file).size,
      blobId: path,
    }));
    const headers = { 'Access-Control-Allow-Origin': '*' };
    await context.route(`https://huggingface.co/api/models/${name}/**`, (route) =>
      route.fulfill({ headers, json: { sha: '0123456789abcdef0123456789abcdef01234567', siblings } }),
    );
    await context.route(`https://huggingface.co/${name}/resolve/**`, async (route) => {
      const path = new URL(route.request().url()).pathname.split('/').slice(5).join('/');
      const file = files.get(path);
      await route.fulfill(file === undefined ? { headers, status: 404 } : { headers, path: file });
    });
  }
}
