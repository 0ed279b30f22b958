import type { Question } from './question.ts';
import { BAD_REQUEST, bytes, CLASSES, json, JSON_TYPE, scene, text, TEXT_TYPE } from './requests.ts';
import { BATCHES } from './torchserve-batches.ts';
import { SEQUENCES } from './torchserve-sequences.ts';

/** A form with the boundary `x`. Each field: headers beside its name, and its value. */
function form(...fields: readonly (readonly [name: string, value: string, more?: string])[]): Partial<Question> {
  const parts = fields.map(
    ([name, value, more = '']) => `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`,
  );
  return { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: `${parts.join('')}--x--\r\n` };
}

const file = (type: string): string => `; filename="f"\r\nContent-Type: ${type}`;

const order = (name: string, more: Partial<Question> = {}): Question => ({
  title: `the handler answers with ${name}`,
  path: '/predictions/echo',
  headers: json,
  body: JSON.stringify({ order: name }),
  ...more,
});

const echo = '/predictions/echo';

/** What a handler gets, and what becomes of its answer. */
const HANDLER: readonly Question[] = [
  {
    title: 'JSON',
    path: echo,
    headers: json,
    body: '{"x":[1,2.5,null]}',
    ours: {
      ...JSON_TYPE,
      body: { x: { json: [1, 2.5, null] } },
      why: 'a body is the input itself, and not below the key "body"',
    },
  },
  { title: 'a JSON list', path: echo, headers: json, body: '[1,2]', ours: JSON_TYPE },
  { title: 'a text', path: echo, headers: text, body: 'hällo', ours: JSON_TYPE },
  { title: 'bytes', path: echo, headers: bytes, body: new Uint8Array([0, 1, 255]), ours: JSON_TYPE },
  { title: 'no content type', path: echo, body: 'abc', ours: JSON_TYPE },
  { title: 'PUT', method: 'PUT', path: echo, headers: bytes, body: 'abc', ours: JSON_TYPE },
  { title: 'a version', path: `${echo}/1.0`, headers: bytes, body: 'abc', ours: JSON_TYPE },
  {
    title: 'JSON that is none',
    without: ['message'],
    path: echo,
    headers: json,
    body: '{bad',
    ours: {
      status: 400,
      type: 'application/json',
      body: { code: 400, type: 'BadRequestException' },
      why: 'the body is not what its type says; TorchServe gives the handler its bytes',
    },
  },
  {
    title: 'a form with files',
    path: echo,
    ...form(
      ['data', '{"a":1}', file('application/json')],
      ['other', 'hällo', file('text/plain')],
      ['third', 'abc', file('application/octet-stream')],
    ),
    ours: JSON_TYPE,
  },
  {
    title: 'a form with texts',
    path: echo,
    ...form(['data', 'hello'], ['n', '5']),
    ours: {
      ...JSON_TYPE,
      body: { data: { text: 'hello' }, n: { text: '5' } },
      why: 'a field without a file name is a text; TorchServe gives its bytes',
    },
  },
  {
    title: 'a field that comes twice',
    path: echo,
    ...form(['data', 'one', file('text/plain')], ['data', 'two', file('text/plain')]),
    ours: {
      ...JSON_TYPE,
      body: { data: { json: ['one', 'two'] } },
      why: 'both are there, as a list; TorchServe keeps the last one',
    },
  },
  {
    title: 'a form in the body of a URL',
    path: echo,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'a=1&b=two',
    ours: {
      ...JSON_TYPE,
      body: { a: { text: '1' }, b: { text: 'two' } },
      why: 'a field is a text; TorchServe gives its bytes',
    },
  },
  order('number', { ours: JSON_TYPE }),
  order('list', { ours: JSON_TYPE }),
  order('null', { ours: JSON_TYPE }),
  order('batch', { ours: JSON_TYPE }),
  order('text', { ours: TEXT_TYPE }),
  order('bytes', { ours: { type: 'application/octet-stream', why: 'our answers say what they are' } }),
  order('status', { ours: JSON_TYPE }),
  order('headers'),
  order('request', { headers: { ...json, 'x-asked': 'yes' }, without: ['x-request-id'], ours: JSON_TYPE }),
  order('request', {
    title: 'the handler reads the rest of the path',
    path: '/predictions/echo/1.0/v1/chat/completions',
    headers: { ...json, 'x-asked': 'yes' },
    without: ['x-request-id'],
    ours: JSON_TYPE,
  }),
  order('exception', {
    ours: {
      status: 500,
      body: { code: 500, type: 'InternalServerException', message: "the handler's own bug" },
      why: '503 tells callers to try again',
    },
  }),
  order('prediction-exception', {
    ours: {
      status: 500,
      body: { code: 500, type: 'InternalServerException', message: 'no such thing' },
      why: 'a row that failed has an error code, and no status of its own',
    },
  }),
  order('stream', { path: '/predictions/streaming', ours: TEXT_TYPE }),
  order('stream-json', {
    path: '/predictions/streaming',
    ours: {
      type: 'application/x-ndjson',
      body: '{"part":1}\n[2,3]\n{"last":true}\n',
      why: 'each part is a line, so that a reader can tell them apart',
    },
  }),
  order('stream-exception', { path: '/predictions/streaming', ours: TEXT_TYPE }),
];

/** Paths, methods and their errors. */
const PATHS: readonly Question[] = [
  { title: 'ping', method: 'GET', path: '/ping' },
  { title: '/predictions: an unknown model', path: '/predictions/none', body: 'x' },
  { title: '/predictions: an unknown version', path: '/predictions/echo/9.0', body: 'x' },
  { title: 'an unknown path', method: 'GET', path: '/nothing' },
  { title: '/explanations: an unknown model', path: '/explanations/none', body: 'x' },
  {
    title: 'SageMaker: /invocations of a model',
    path: '/invocations?model_name=echo',
    headers: text,
    body: 'abc',
    ours: { ...JSON_TYPE, body: { body: { text: 'abc' } }, why: 'the model is no input of its handler' },
  },
  { title: 'SageMaker: /invocations of no model', path: '/invocations', headers: text, body: 'abc' },
  { title: '/models/NAME/invoke', path: '/models/echo/invoke', headers: text, body: 'abc', ours: JSON_TYPE },
  { title: '/NAME/predict', path: '/echo/predict', headers: text, body: 'abc', ours: JSON_TYPE },
  { title: '/NAME/predict of an unknown model', path: '/none/predict', headers: text, body: 'abc' },
];

/** What changes from run to run, and what has no meaning in a tab: TorchServe's keys of a Python process. */
const VOLATILE = [
  'modelUrl',
  'workers',
  'runtime',
  'engine',
  'deviceType',
  'loadedAtStartup',
  'maxBatchDelay',
  'jobQueueStatus',
  'maxRetryTimeoutInSec',
  'clientTimeoutInMills',
  'parallelType',
  'parallelLevel',
  'continuousBatching',
  'useJobTicket',
  'useVenv',
  'stateful',
  'sequenceMaxIdleMSec',
  'sequenceTimeoutMSec',
  'maxNumSequence',
  'maxSequenceJobQueueSize',
];

const manage = (title: string, method: string, path: string, more: Partial<Question> = {}): Question => ({
  title,
  method,
  path,
  management: true,
  ...more,
});

/** The management API, in this order: each changes what the next one finds. */
const MANAGEMENT: readonly Question[] = [
  manage('the models', 'GET', '/models', { without: ['modelUrl'] }),
  manage('the first model, and a token for the next page', 'GET', '/models?limit=1', { without: ['modelUrl'] }),
  manage('the second page', 'GET', '/models?limit=1&next_page_token=1', { without: ['modelUrl'] }),
  manage('describe an unknown model', 'GET', '/models/none'),
  manage('describe an unknown version', 'GET', '/models/classifier/7.0'),
  manage('register: no URL', 'POST', '/models'),
  manage('register: nothing is there', 'POST', '/models?url=none.mar', { without: ['message'] }),
  manage('register: nothing is there, and nobody waits', 'POST', '/models?url=none.mar&synchronous=false', {
    without: ['message'],
  }),
  manage('register', 'POST', '/models?url={classifier}&model_name=second&initial_workers=1&synchronous=true'),
  manage(
    'register: it is there already',
    'POST',
    '/models?url={classifier}&model_name=second&initial_workers=1&synchronous=true',
  ),
  manage('describe', 'GET', '/models/second', { without: VOLATILE }),
  manage('describe all versions', 'GET', '/models/second/all', { without: VOLATILE }),
  manage(
    'register, and nobody waits',
    'POST',
    '/models?url={classifier}&model_name=third&initial_workers=1&synchronous=false',
  ),
  manage('scale', 'PUT', '/models/second?min_worker=2&max_worker=2&synchronous=true'),
  manage('scale a version', 'PUT', '/models/second/1.0?min_worker=1&max_worker=1&synchronous=true'),
  manage('scale: fewer at most than at least', 'PUT', '/models/second?min_worker=3&max_worker=2'),
  manage('scale an unknown model', 'PUT', '/models/none?min_worker=1'),
  manage('set-default', 'PUT', '/models/second/1.0/set-default'),
  manage('set-default of an unknown version', 'PUT', '/models/second/3.0/set-default', {
    ours: {
      body: {
        code: 404,
        type: 'ModelVersionNotFoundException',
        message: 'Model version: 3.0 does not exist for model: second',
      },
      why: 'it is the message of every other path',
    },
  }),
  manage('set-default of an unknown model', 'PUT', '/models/none/3.0/set-default'),
  { title: 'the registered model answers', path: '/predictions/second', headers: bytes, body: scene, ours: JSON_TYPE },
  manage('unregister an unknown version', 'DELETE', '/models/second/9.9'),
  manage('unregister', 'DELETE', '/models/second'),
  manage('unregister an unknown model', 'DELETE', '/models/second'),
  manage('a method that is none', 'PATCH', '/models', { without: ['message'] }),
];

/** Built-in handlers, with the same weights in both. */
const HANDLERS: readonly Question[] = [
  {
    title: 'image_classifier: a file as the body',
    path: '/predictions/classifier',
    headers: { 'content-type': 'image/png' },
    body: scene,
    ours: JSON_TYPE,
  },
  { title: 'image_classifier: no content type', path: '/predictions/classifier', body: scene, ours: JSON_TYPE },
  {
    title: 'image_classifier: base64 in JSON',
    path: '/predictions/classifier',
    headers: json,
    body: JSON.stringify({ data: scene.toString('base64') }),
    ours: { status: 200, body: CLASSES, why: 'TorchServe fails: it looks for the field in a form alone' },
  },
  {
    title: 'image_classifier: base64 as text',
    path: '/predictions/classifier',
    headers: text,
    body: scene.toString('base64'),
    ours: JSON_TYPE,
  },
  {
    title: 'image_classifier: no image',
    path: '/predictions/classifier',
    headers: bytes,
    body: 'no image',
    ...BAD_REQUEST,
  },
];

const SEGMENTS: readonly Question[] = [
  {
    title: 'image_segmenter: class and probability of each pixel',
    path: '/predictions/segmenter',
    headers: bytes,
    body: scene,
    sampled: true,
    ours: JSON_TYPE,
  },
];

const detect = (title: string, more: Partial<Question>): Question => ({
  title: `object_detector: ${title}`,
  path: '/predictions/detector',
  ours: JSON_TYPE,
  ...more,
});

const DETECTIONS: readonly Question[] = [
  detect('boxes and scores, best first', { headers: { 'content-type': 'image/png' }, body: scene }),
  detect('base64 as text', { headers: text, body: scene.toString('base64') }),
  detect('a field of a form', form(['data', scene.toString('base64'), file('text/plain')])),
];

const read = (title: string, body: string, more: Partial<Question> = {}): Question => ({
  title: `text_classifier: ${title}`,
  path: '/predictions/texts',
  headers: text,
  body,
  ours: JSON_TYPE,
  ...more,
});

/** What TorchServe answers to the same text as bytes. */
const TEXT_CLASSES = {
  cat: 0.3361886441707611,
  dog: 0.01550188660621643,
  owl: 0.010761452838778496,
  fox: 0.3962486982345581,
  hen: 0.22624170780181885,
  cow: 0.0046240887604653835,
  bee: 0.010433511808514595,
};

const TEXTS: readonly Question[] = [
  read('a text', 'The owl sees a fox'),
  read('markup, punctuation, contractions and accents', "<b>The owl</b> &amp; a fox: don't, café!"),
  read('words that the vocabulary does not have', 'nobody knows'),
  read('bytes', 'The owl sees', { headers: bytes }),
  read('a field of JSON', JSON.stringify({ data: 'The owl sees' }), {
    headers: json,
    ours: { status: 200, body: TEXT_CLASSES, why: 'TorchServe fails: it looks for the field in a form alone' },
  }),
  read('a field of a form', '', form(['data', 'The owl sees', file('text/plain')])),
  read('bytes that are not UTF-8', '', { headers: bytes, body: new Uint8Array([0x66, 0xff, 0x66]), ...BAD_REQUEST }),
  read('no word', '<br>', BAD_REQUEST),
];

/** What TorchServe and TabServe are asked, by subject, in this order. */
export const TORCHSERVE: Readonly<Record<string, readonly Question[]>> = {
  'what a handler gets and answers': HANDLER,
  'paths, methods and errors': PATHS,
  'built-in handlers': [...HANDLERS, ...SEGMENTS, ...DETECTIONS, ...TEXTS],
  batches: BATCHES,
  sequences: SEQUENCES,
  management: MANAGEMENT,
};
