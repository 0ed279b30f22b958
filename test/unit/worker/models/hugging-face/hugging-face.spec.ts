/** Hugging Face's layout: which files are asked for, and what follows from them. */
import { expect, test } from '@playwright/test';
import { fetchArchive, type ArchiveOptions } from '../../../../../src/worker/models/archive.ts';
import { loadHandler } from '../../../../../src/worker/handlers/registry.ts';
import { fetchModel } from '../../../../../src/worker/models/model-files.ts';
import { modelNameOf } from '../../../../../src/worker/models/hugging-face/repository-name.ts';
import { readModelUrl } from '../../../../../src/shared/model-url.ts';

type Files = Readonly<Record<string, unknown>>;

/** A server with these files, as text or as JSON, and the paths that were asked for. */
function server(files: Files, root = '/m/') {
  const asked: string[] = [];
  const fetch = (url: URL | string | Request): Promise<Response> => {
    const path = new URL(url instanceof Request ? url.url : url).pathname.replace(root, '');
    asked.push(path);
    const file = files[path];
    const body = typeof file === 'string' ? file : JSON.stringify(file);
    return Promise.resolve(file === undefined ? new Response('', { status: 404 }) : new Response(body));
  };
  return { fetch: fetch as typeof globalThis.fetch, asked };
}

async function read(files: Files, options: Partial<ArchiveOptions> = {}, url = 'https://example.org/m') {
  const { fetch, asked } = server(
    files,
    url.startsWith('https://huggingface.co') ? /^.*\/resolve\/[^/]+\//.exec(readModelUrl(url).url.pathname)![0] : '/m/',
  );
  const downloads = new Map();
  const archive = await fetchArchive(url, { fetch, downloads, handlerClass: loadHandler, ...options });
  return { archive, asked, loaded: await fetchModel(archive, 'onnx', { fetch, downloads }) };
}

/** The labels that the handler reads. */
const labels = async ({ files }: { files: Readonly<Record<string, Blob>> }) =>
  JSON.parse(await files['index_to_name.json']!.text()) as unknown;

const vit = {
  'config.json': {
    architectures: ['ViTForImageClassification'],
    model_type: 'vit',
    id2label: { 0: 'tench', 1: 'goldfish' },
  },
  'preprocessor_config.json': {
    do_normalize: true,
    do_resize: true,
    image_mean: [0.5, 0.5, 0.5],
    image_std: [0.5, 0.5, 0.5],
    size: 224,
  },
  'onnx/model.onnx': 'weights',
};
const bert = {
  'config.json': {
    architectures: ['BertForSequenceClassification'],
    model_type: 'bert',
    max_position_embeddings: 512,
    id2label: { 0: 'NEGATIVE', 1: 'POSITIVE' },
  },
  'tokenizer.json': {},
  'tokenizer_config.json': { model_max_length: 512 },
  'onnx/model.onnx': 'weights',
};

test('an image classifier: handler, steps and labels; the model is downloaded once', async () => {
  const { archive, loaded, asked } = await read(vit);
  expect(archive.manifest.model).toEqual({ modelName: 'm', handler: 'image_classifier' });
  expect(loaded.manifest.model).toEqual({ ...archive.manifest.model, serializedFile: 'onnx/model.onnx' });
  expect(archive.config).toEqual({
    handler: {
      imageProcessing: [
        { resize: { size: [224, 224], interpolation: 'bilinear' } },
        'toTensor',
        { normalize: { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] } },
      ],
    },
  });
  expect(await labels(archive)).toEqual({ 0: 'tench', 1: 'goldfish' });
  expect(await loaded.files['onnx/model.onnx']!.text()).toBe('weights');
  expect(asked).toEqual([
    'MAR-INF/MANIFEST.json',
    'tabserve.json',
    'config.json',
    'preprocessor_config.json',
    'onnx/model.onnx',
  ]);
});

test('a repository of huggingface.co: no other layout is asked for', async () => {
  const { archive, asked } = await read(vit, {}, 'https://huggingface.co/google/vit-base-patch16-224');
  expect(archive.url).toBe('https://huggingface.co/google/vit-base-patch16-224/resolve/main/');
  expect(archive.manifest.model.modelName).toBe('vit-base-patch16-224');
  expect(asked).toEqual([
    '/api/models/google/vit-base-patch16-224/revision/main',
    'config.json',
    'preprocessor_config.json',
    'onnx/model.onnx',
  ]);
});

test('a model is called as its repository or folder is', () => {
  expect(modelNameOf('https://example.org/models/vit%20b/')).toBe('vit b');
  expect(modelNameOf('my folder')).toBe('my folder');
  // A folder that was picked, whose name is no URL.
  expect(['100%', 'a:%'].map(modelNameOf)).toEqual(['100%', 'a:%']);
});

test('a text classifier: the tokenizer, and its limit where its config has none', async () => {
  const { archive, loaded, asked } = await read(bert);
  expect(archive.manifest.model).toMatchObject({
    handler: 'text_classifier',
    extensions: 'tokenizer.json,tokenizer_config.json',
  });
  expect(archive.config).toEqual({});
  expect(Object.keys(loaded.files).sort()).toEqual([
    'index_to_name.json',
    'onnx/model.onnx',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
  expect(asked).not.toContain('preprocessor_config.json');
  const limit = async (config: object, tokenizer: object = {}) =>
    (await read({ ...bert, 'config.json': { ...bert['config.json'], ...config }, 'tokenizer_config.json': tokenizer }))
      .archive.config.handler?.['maxLength'];
  expect(await limit({}, { model_max_length: 1e30 })).toBe(512);
  expect(await limit({}, { max_len: 64 })).toBeUndefined();
  expect(await limit({ model_type: 'roberta', max_position_embeddings: 514, pad_token_id: 1 })).toBe(512);
  expect(await limit({ model_type: 'markuplm', max_position_embeddings: 514, pad_token_id: 1 })).toBe(512);
  expect(await limit({ max_position_embeddings: undefined })).toBeUndefined();
});

test('labels are those of handlers that answer with classes, and of handlers of an app', async () => {
  const filesOf = async (config: object, options?: Partial<ArchiveOptions>): Promise<readonly string[]> =>
    Object.keys((await read({ ...bert, 'config.json': config }, options)).archive.files);
  const { id2label: _, ...unnamed } = bert['config.json'];
  expect(await filesOf(unnamed)).toContain('index_to_name.json');
  expect(await filesOf(unnamed, { handler: 'text_feature_extractor' })).not.toContain('index_to_name.json');
  const masked = { ...bert['config.json'], architectures: ['BertForMaskedLM'] };
  expect(await filesOf(masked)).not.toContain('index_to_name.json');
  expect(await filesOf(masked, { handler: 'text_handler' })).toContain('index_to_name.json');
});

test('softmax or sigmoid: the rules of the text classification pipeline', async () => {
  const handler = async (config: object) =>
    (await read({ ...bert, 'config.json': { ...bert['config.json'], ...config } })).archive.config.handler;
  expect(await handler({ problem_type: 'single_label_classification' })).toBeUndefined();
  expect(await handler({ problem_type: 'multi_label_classification' })).toEqual({ multiLabel: true });
  expect(await handler({ id2label: { 0: 'LABEL_0' } })).toEqual({ multiLabel: true, threshold: 0 });
  expect(await handler({ problem_type: 'regression' })).toEqual({ output: 'values' });
});

test('detectors: softmax with "no object", or a sigmoid for each class', async () => {
  const handler = async (architecture: string, config: object = {}) => {
    const files = {
      ...vit,
      'config.json': { architectures: [architecture], ...config },
      'preprocessor_config.json': { image_processor_type: 'DetrImageProcessor' },
    };
    return (await read(files, { handler: 'object_detector' })).archive.config.handler;
  };
  expect(await handler('DetrForObjectDetection', { num_queries: 50 })).toMatchObject({
    decoder: 'detr',
    maxDetections: 50,
  });
  expect(await handler('YolosForObjectDetection', { num_detection_tokens: 100 })).toMatchObject({
    decoder: 'detr',
    maxDetections: 100,
  });
  const sigmoid = { detr: { activation: 'sigmoid', multiLabel: true } };
  for (const architecture of ['RTDetrForObjectDetection', 'RTDetrV2ForObjectDetection', 'DFineForObjectDetection'])
    expect(await handler(architecture, { num_queries: 300 })).toMatchObject({ decoder: sigmoid, maxDetections: 300 });
  expect(await handler('DeformableDetrForObjectDetection', { num_queries: 300 })).toEqual({
    decoder: sigmoid,
    imageProcessing: expect.anything(),
  });
  await expect(handler('OtherForObjectDetection')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(
      /config\.json: architectures is \["OtherForObjectDetection"\].*DetrForObjectDetection.*Set handler\.decoder/,
    ),
  });
});

test("the caller's config and handler win, and spare files that they make needless", async () => {
  const own = { handler: { imageProcessing: ['toTensor'], topK: 1 }, batchSize: 2 };
  const { archive, asked } = await read(vit, { config: own });
  expect(archive.config).toEqual(own);
  expect(asked).not.toContain('preprocessor_config.json');
  const base = await read(vit, { handler: 'base_handler' });
  expect(base.archive).toMatchObject({ config: {}, manifest: { model: { handler: 'base_handler' } } });
  expect(base.asked).not.toContain('preprocessor_config.json');
  const other = {
    ...vit,
    'config.json': { architectures: ['OtherForObjectDetection'] },
    'preprocessor_config.json': { image_processor_type: 'ViTImageProcessor' },
  };
  const chosen = { handler: 'object_detector', config: { handler: { decoder: 'yolov8' } } } as const;
  expect((await read(other, chosen)).archive.config.handler).toMatchObject({ decoder: 'yolov8' });
});

test('a handler of another task than the model’s is a contradiction; one of the same architecture, or of any model, is none', async () => {
  const said = async (files: Files, handler: string) => (await read(files, { handler })).archive.contradiction;
  expect(await said(vit, 'depth_estimator')).toContain('the model is for image_classifier, not depth_estimator');
  expect(await said(bert, 'question_answerer')).toContain('for text_classifier, not question_answerer');
  for (const handler of ['image_classifier', 'image_feature_extractor', 'vision_handler', 'base_handler', 'my_handler'])
    expect(await said(vit, handler), handler).toBeUndefined();
  const pairs = { ...bert['config.json'], id2label: { 0: 'entailment', 1: 'other' } };
  expect(await said({ ...bert, 'config.json': pairs }, 'text_classifier')).toBeUndefined();
});

test('a class that no test compares with Python opens only by a handler’s name, with a warning', async () => {
  const openedAs = async (architectures: readonly string[], handler?: string, own: object = {}) => {
    const config = { ...vit['config.json'], architectures, ...own };
    const { archive } = await read({ ...vit, 'config.json': config }, handler === undefined ? {} : { handler });
    return [archive.manifest.model.handler, archive.likelyHandler, archive.uncompared];
  };
  const other = 'OtherForImageClassification';
  const warning = expect.stringMatching(/^No test .* the class OtherForImageClassification/);
  expect(await openedAs([other])).toEqual([other, 'image_classifier', undefined]);
  expect(await openedAs([other], 'image_classifier')).toEqual(['image_classifier', undefined, warning]);
  const code = { auto_map: { AutoModel: 'modeling_other.Other' } };
  expect(await openedAs([other], undefined, code)).toEqual([other, 'image_classifier', undefined]);
  expect(await openedAs(['OtherModel'], undefined, code)).toEqual(['OtherModel', undefined, undefined]);
  expect(await openedAs(['ViTForImageClassification'])).toEqual(['image_classifier', undefined, undefined]);
  // Its files would say that it is of images, and it is of sound.
  expect(await openedAs(['HubertModel'])).toEqual(['HubertModel', undefined, undefined]);
  expect(await openedAs([other], 'my_handler')).toEqual(['my_handler', undefined, undefined]);
  expect(await openedAs([], 'image_classifier')).toEqual(['image_classifier', undefined, undefined]);
});

test('a class that no test compares, of several files: the handler of its name, or of its files', async () => {
  const open = async (name: string, files: readonly string[], handler?: string) => {
    const config = { architectures: ['OtherFor' + name], is_encoder_decoder: true, text_config: {}, vision_config: {} };
    const picked = {
      'm/config.json': new Blob([JSON.stringify(config)]),
      ...Object.fromEntries(
        ['tokenizer.json', 'preprocessor_config.json'].map((file) => [`m/${file}`, new Blob(['{}'])]),
      ),
      ...Object.fromEntries(files.map((file) => [`m/onnx/${file}.onnx`, new Blob(['weights'])])),
    };
    return await fetchArchive(picked, { fetch: globalThis.fetch, handlerClass: loadHandler, handler });
  };
  const unknown = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) });
  await expect(open('ConditionalGeneration', ['encoder_model', 'decoder_model_merged'])).rejects.toMatchObject(
    unknown(
      'unknown-handler',
      /^By its name, the class OtherForConditionalGeneration .* is one of text_to_text, .* Set the option handler of load to 'text_to_text' to open it, and compare some answers of your own\.$/,
    ),
  );
  const ofImages = ['embed_tokens', 'vision_encoder', 'decoder_model_merged'];
  await expect(open('ConditionalGeneration', ofImages)).rejects.toMatchObject(
    unknown('unknown-handler', /^There is no built-in handler "OtherForConditionalGeneration"/),
  );
  const { uncompared, contradiction } = await open('ConditionalGeneration', ofImages, 'image_text_to_text');
  expect([uncompared, contradiction]).toEqual([expect.stringContaining('OtherForConditionalGeneration'), undefined]);
  await expect(open('SequenceClassification', [])).rejects.toMatchObject(
    unknown('model-not-found', /has none of onnx\/model\.onnx/),
  );
  expect((await open('SequenceClassification', ['model'], 'fill_mask')).contradiction).toMatch(
    /for text_classifier, not fill_mask: .* Set the option handler to text_classifier\.$/,
  );
});

test('positions of RoBERTa are a key of texts; of images and texts they are a limit alone', async () => {
  const text = { model_type: 'roberta', max_position_embeddings: 514 };
  const processor = { ...vit['preprocessor_config.json'], image_processor_type: 'ViTImageProcessor' };
  const files = { ...vit, 'preprocessor_config.json': processor, 'tokenizer.json': {} };
  const handlerOf = async (config: object) => (await read({ ...files, 'config.json': config })).archive.config.handler;
  expect(await handlerOf({ architectures: ['RobertaForMaskedLM'], ...text })).toEqual({
    maxLength: 512,
    firstPosition: 2,
  });
  for (const model_type of ['roberta', 'altclip_text_model']) {
    const keys = await handlerOf({ architectures: ['AltCLIPModel'], text_config: { ...text, model_type } });
    expect(Object.keys(keys!).toSorted()).toEqual(['imageProcessing', 'maxLength']);
    expect(keys).toMatchObject({ maxLength: 512 });
  }
});

test('the handler that a language model’s name says is no contradiction', async () => {
  const config = {
    'config.json': { architectures: ['Qwen3ForCausalLM'] },
    'tokenizer.json': {},
    'onnx/model.onnx': '',
  };
  const url = 'https://huggingface.co/a/Qwen3-Reranker-0.6B';
  expect((await read(config, { handler: 'text_reranker' }, url)).archive.contradiction).toBeUndefined();
});

test('a repository’s name says that its model ranks texts, or makes vectors, whatever class it was trained as', async () => {
  const { 'config.json': fields, ...others } = bert;
  const handlerOf = async (architecture: string, name: string, more: object = {}) => {
    const config = { ...fields, architectures: [architecture], ...more };
    const { archive } = await read({ ...others, 'config.json': config }, {}, `https://huggingface.co/a/${name}`);
    return archive.manifest.model.handler;
  };
  const one = { id2label: { 0: 'LABEL_0' } };
  expect(await handlerOf('JinaBertForMaskedLM', 'jina-embeddings-v2-base-de')).toBe('text_feature_extractor');
  expect(await handlerOf('JinaBertForMaskedLM', 'jina-bert-v2-base')).toBe('fill_mask');
  expect(await handlerOf('NewForSequenceClassification', 'gte-multilingual-reranker-base', one)).toBe('text_reranker');
  expect(await handlerOf('NewForSequenceClassification', 'gte-sentiment', one)).toBe('text_classifier');
  // Of several labels, each has a score.
  expect(await handlerOf('NewForSequenceClassification', 'gte-reranker-labels')).toBe('text_classifier');
  expect(await handlerOf('JinaBertModel', 'jina-reranker-v1-turbo-en')).toBe('text_reranker');
  expect(await handlerOf('JinaBertModel', 'German_Semantic')).toBe('text_feature_extractor');
});

test("processor_config.json of transformers 5: its parts are the processors' files", async () => {
  const { 'preprocessor_config.json': fields, ...others } = vit;
  const { archive, asked } = await read({ ...others, 'processor_config.json': { image_processor: fields } });
  expect(archive.config).toEqual((await read(vit)).archive.config);
  expect(asked).toEqual(expect.arrayContaining(['preprocessor_config.json', 'processor_config.json']));
  expect((await read({ ...vit, 'processor_config.json': {} })).asked).not.toContain('processor_config.json');
  const speech = {
    'config.json': { architectures: ['Wav2Vec2ForCTC'] },
    'vocab.json': {},
    'tokenizer_config.json': {},
    'processor_config.json': { feature_extractor: { sampling_rate: 8000 }, processor_class: 'Wav2Vec2Processor' },
    'onnx/model.onnx': 'weights',
  };
  const { loaded } = await read(speech);
  expect(await loaded.files['preprocessor_config.json']!.text()).toBe('{"sampling_rate":8000}');
  // What transformers 4 writes has no such parts.
  await expect(
    read({ ...others, 'processor_config.json': { processor_class: 'CLIPProcessor' } }),
  ).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/There is no preprocessor_config\.json/),
  });
});

test('a cross-encoder of sentence-transformers 5.7 is a reranker', async () => {
  const single = { ...bert, 'config.json': { ...bert['config.json'], id2label: { 0: 'LABEL_0' } } };
  const settings = { model_type: 'CrossEncoder', activation_fn: 'torch.nn.modules.linear.Identity' };
  const handlerOf = async (files: Files) => {
    const { archive } = await read(files);
    return [archive.manifest.model.handler, archive.config.handler];
  };
  const file = 'config_sentence_transformers.json';
  expect(await handlerOf({ ...single, [file]: settings })).toEqual(['text_reranker', { activation: 'identity' }]);
  expect(await handlerOf({ ...single, [file]: { ...settings, activation_fn: null } })).toEqual([
    'text_reranker',
    undefined,
  ]);
  expect((await handlerOf({ ...single, [file]: { model_type: 'SentenceTransformer' } }))[0]).toBe('text_classifier');
  // Of several labels, each has a score.
  expect((await handlerOf({ ...bert, [file]: settings }))[0]).toBe('text_classifier');
  await expect(read({ ...single, [file]: { ...settings, default_prompt_name: 'query' } })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/default_prompt_name is "query"; expected null/),
  });
});

test('MM Grounding DINO reads labels as one sentence, as Grounding DINO', async () => {
  const files = { ...bert, 'preprocessor_config.json': { image_processor_type: 'GroundingDinoImageProcessor' } };
  for (const architecture of ['GroundingDinoForObjectDetection', 'MMGroundingDinoForObjectDetection'])
    expect(
      (await read({ ...files, 'config.json': { architectures: [architecture] } })).archive.config.handler,
    ).toMatchObject({ columns: 'tokens' });
});

test('an architecture without a handler stays its name, which loading the handler reports', async () => {
  const config = (architectures: unknown) => ({ ...bert, 'config.json': { architectures } });
  expect((await read(config(['BertForNextSentencePrediction']))).archive.manifest.model.handler).toBe(
    'BertForNextSentencePrediction',
  );
  expect((await read(config(undefined))).archive.manifest.model.handler).toBeUndefined();
});

test('a damaged file of a task is told before one that is missing and that its class names', async () => {
  const files = { 'config.json': { model_type: 'nemo-conformer-ctc' }, 'onnx/model.onnx': 'weights' };
  await expect(read(files)).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching('vocab.txt'),
  });
  await expect(read({ ...files, 'preprocessor_config.json': 'no JSON' })).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/^preprocessor_config\.json is not JSON/),
  });
});

test('the chat template for tools lies in a folder, and is read as a file of an archive', async () => {
  const tools = 'additional_chat_templates/tool_use.jinja';
  const writer = {
    'config.json': { architectures: ['LlamaForCausalLM'], model_type: 'llama', max_position_embeddings: 64 },
    'tokenizer.json': {},
    'tokenizer_config.json': {},
    'chat_template.jinja': 'plain',
    [tools]: 'with tools',
    'onnx/model.onnx': 'weights',
  };
  const { loaded, asked } = await read(writer);
  expect(await loaded.files['tool_use.jinja']!.text()).toBe('with tools');
  expect(asked.filter((path) => path.endsWith('tool_use.jinja'))).toEqual([tools]);
});

test('the precision: what exists, what config.json names, what the caller chooses', async () => {
  const { 'onnx/model.onnx': _, ...rest } = vit;
  const path = async (files: Files, dtype?: string, config: object = {}) =>
    (
      await read(
        { ...rest, ...files, 'config.json': { ...vit['config.json'], ...config } },
        { config: dtype === undefined ? {} : { engine: { dtype: dtype as 'q8' } } },
      )
    ).loaded.models.onnx;
  expect(await path({ 'model.onnx': 'w' })).toBe('model.onnx');
  expect(await path({ 'onnx/model_quantized.onnx': 'w' })).toBe('onnx/model_quantized.onnx');
  const all = {
    'onnx/model.onnx': 'w',
    'onnx/model_fp16.onnx': 'w',
    'onnx/model_quantized.onnx': 'w',
    'onnx/model_q4f16.onnx': 'w',
  };
  expect(await path(all)).toBe('onnx/model.onnx');
  expect(await path(all, 'q8')).toBe('onnx/model_quantized.onnx');
  expect(await path(all, undefined, { 'transformers.js_config': { dtype: 'fp16' } })).toBe('onnx/model_fp16.onnx');
  expect(await path(all, undefined, { 'transformers.js_config': { dtype: { model: 'q4f16' } } })).toBe(
    'onnx/model_q4f16.onnx',
  );
  expect(await path(all, 'fp32', { 'transformers.js_config': { dtype: 'fp16' } })).toBe('onnx/model.onnx');
  await expect(path(all, 'bnb4')).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/model_bnb4\.onnx.*engine\.dtype/),
  });
  await expect(path(all, 'fp8')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/engine\.dtype/),
  });
  await expect(path({})).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/onnx\/model\.onnx.*Optimum/),
  });
});

test('the models of onnx-asr: an encoder and a decoder, each in the precision that is named', async () => {
  const files: Files = {
    'config.json': { model_type: 'nemo-conformer-tdt' },
    'vocab.txt': '<blk> 0',
    'encoder-model.onnx': 'w',
    'encoder-model.int8.onnx': 'w',
    'decoder_joint-model.onnx': 'w',
    'decoder_joint-model.int8.onnx': 'w',
  };
  const paths = async (dtype?: unknown): Promise<readonly unknown[]> => {
    const config = dtype === undefined ? {} : { engine: { dtype: dtype as 'int8' } };
    const { archive, loaded } = await read(files, { config });
    expect(archive.manifest.model.handler).toBe('speech_recognizer');
    const { alternatives = [], config: own } = archive.nodes!['decoder']!;
    const wanted = own.engine?.dtype ?? 'fp32';
    const decoder = alternatives.find(({ path, precision }) => precision === wanted && Object.hasOwn(files, path));
    return [loaded.models.onnx, decoder?.path];
  };
  expect(await paths()).toEqual(['encoder-model.onnx', 'decoder_joint-model.onnx']);
  expect(await paths('int8')).toEqual(['encoder-model.int8.onnx', 'decoder_joint-model.int8.onnx']);
  expect(await paths({ encoder: 'int8' })).toEqual(['encoder-model.int8.onnx', 'decoder_joint-model.onnx']);
  await expect(paths({ joint: 'int8' })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('expected encoder, decoder'),
  });
});

test('a model of pictures whose config.json has no part for texts, as the published ones of Qwen2-VL, is divided', async () => {
  const files: Files = {
    'config.json': { architectures: ['Qwen2VLForConditionalGeneration'], hidden_size: 8, vision_config: {} },
    'tokenizer.json': {},
    'tokenizer_config.json': {},
    'onnx/decoder_model_merged.onnx': 'weights',
  };
  const nodes = async (options: object) => Object.keys((await read(files, options)).archive.nodes ?? {});
  expect(await nodes({})).toEqual(['embed_tokens', 'vision_encoder']);
  expect(await nodes({ handler: 'text_generator' })).toEqual(['embed_tokens']);
});

test('a Gemma 4: with an encoder of sound if its config.json has one, and with those of the handler', async () => {
  const nodes = async (config: object, handler?: string): Promise<readonly string[]> => {
    const files: Files = {
      'config.json': { architectures: ['Gemma4ForConditionalGeneration'], text_config: {}, ...config },
      'tokenizer.json': {},
      'tokenizer_config.json': {},
      'onnx/decoder_model_merged.onnx': 'weights',
    };
    const { archive } = await read(files, handler === undefined ? {} : { handler });
    expect(archive.manifest.model.handler).toBe(handler ?? 'image_text_to_text');
    return Object.keys(archive.nodes!);
  };
  const hearing = { audio_config: { model_type: 'gemma4_audio' } };
  expect(await nodes(hearing)).toEqual(['embed_tokens', 'vision_encoder', 'audio_encoder']);
  expect(await nodes({ audio_config: null })).toEqual(['embed_tokens', 'vision_encoder']);
  expect(await nodes({})).toEqual(['embed_tokens', 'vision_encoder']);
  expect(await nodes(hearing, 'audio_text_to_text')).toEqual(['embed_tokens', 'audio_encoder']);
  expect(await nodes(hearing, 'text_generator')).toEqual(['embed_tokens']);
  // Picked files, of which one is missing.
  const json = { architectures: ['Gemma4ForConditionalGeneration'], text_config: {}, ...hearing };
  const picked = {
    'config.json': new Blob([JSON.stringify(json)]),
    ...Object.fromEntries(['tokenizer.json', 'tokenizer_config.json'].map((name) => [name, new Blob(['{}'])])),
    ...Object.fromEntries(
      ['decoder_model_merged', 'embed_tokens', 'vision_encoder'].map((name) => [`onnx/${name}.onnx`, new Blob(['w'])]),
    ),
  };
  const { fetch } = server({});
  await expect(fetchArchive(picked, { fetch, handlerClass: loadHandler })).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringContaining('onnx/audio_encoder.onnx'),
  });
});

test('free dimensions of transformers.js are those of the engine', async () => {
  const config = { ...vit['config.json'], 'transformers.js_config': { free_dimension_overrides: { batch_size: 1 } } };
  expect((await read({ ...vit, 'config.json': config })).archive.config.engine).toEqual({
    freeDimensions: { batch_size: 1 },
  });
});

test('what cannot be derived names the field and the key', async () => {
  const fails = async (processor: unknown, config: object = {}, handler?: string) =>
    await read(
      {
        ...vit,
        'config.json': { ...vit['config.json'], ...config },
        'preprocessor_config.json': processor,
      },
      handler === undefined ? {} : { handler },
    ).then(
      () => 'loaded',
      (error: { code: string; message: string }) => `${error.code} ${error.message}`,
    );
  const vitFields = { image_processor_type: 'ViTImageProcessor' };
  for (const [processor, field] of [
    [
      { image_processor_type: 'FooImageProcessor' },
      'image_processor_type is "FooImageProcessor"; expected the image processor of Beit, Bit,',
    ],
    [{ image_processor_type: 'Owlv2ImageProcessor', do_pad: false }, 'do_pad is false; expected true'],
    [{ image_processor_type: 'Owlv2ImageProcessor', size: { height: 8, width: 9 } }, 'size is'],
    [{ feature_extractor_type: 'Wav2Vec2FeatureExtractor' }, 'feature_extractor_type is "Wav2Vec2FeatureExtractor"'],
    [{ ...vitFields, resample: 6 }, 'resample is 6; expected 0 (nearest), 1 (lanczos), 2 (bilinear), 3 (bicubic)'],
    [{ ...vitFields, size: { longest_edge: 500 } }, 'size is'],
    [{ ...vitFields, size: { height: 0, width: 10 } }, 'size is'],
    [{ ...vitFields, size: 'big' }, 'size is "big"'],
    [{ ...vitFields, do_center_crop: true }, 'crop_size is missing'],
    [{ ...vitFields, do_pad: true, pad_size: { height: 300, width: 300 } }, 'pad_size is'],
    [{ ...vitFields, image_mean: [0.5] }, 'image_mean is [0.5]'],
    [{ ...vitFields, rescale_factor: '1/255' }, 'rescale_factor is "1/255"'],
    [{ image_processor_type: 'ConvNextImageProcessor', size: { height: 5, width: 5 } }, 'size is'],
    [{ image_processor_type: 'ZoeDepthImageProcessor', resample: 3 }, 'resample is 3; expected 2 (bilinear)'],
    [{ image_processor_type: 'DPTImageProcessor', size: { shortest_edge: 5 } }, 'size is'],
    [{ image_processor_type: 'DINOv3ViTImageProcessorFast', do_center_crop: true }, 'do_center_crop is true'],
    [{ image_processor_type: 'DPTImageProcessor', ensure_multiple_of: 0 }, 'ensure_multiple_of is 0'],
    [
      { image_processor_type: 'YolosImageProcessor', do_pad: true, pad_size: { height: 1333, width: 1333 } },
      'pad_size is',
    ],
  ] as const)
    expect(await fails(processor)).toMatch(
      new RegExp(
        `^model-config preprocessor_config\\.json: ${field.replace(/[()[\]]/g, '\\$&')}.*Set handler\\.imageProcessing`,
      ),
    );
  expect(await fails(undefined)).toMatch(
    /^model-config .*There is no preprocessor_config\.json.*Set handler\.imageProcessing/,
  );
  expect(await fails(undefined, { architectures: ['LlamaForCausalLM'] }, 'image_classifier')).toContain(
    'the model is for text_generator, not image_classifier',
  );
  expect(await fails(vitFields, {}, 'text_classifier')).toContain(
    'There is no tokenizer.json. By its config.json, the model is for image_classifier, not text_classifier',
  );
  expect(await fails({}, { model_type: 'foo' })).toContain('image_processor_type is missing');
  expect(await fails('{')).toMatch(/^model-format preprocessor_config\.json is not JSON/);
  expect(await fails([1])).toMatch(/^model-format preprocessor_config\.json must be a mapping/);
  await expect(read({})).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/MAR-INF\/MANIFEST\.json/),
  });
});
