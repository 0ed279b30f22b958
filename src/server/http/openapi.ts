import { VERSION } from '../../contract/version.js';
import type { RouteContext } from './route.js';

type Method = 'get' | 'put' | 'post' | 'delete' | 'options';

/** What an operation takes as its body. */
type Body = 'input' | 'json' | 'form';

/** What an operation answers with, where it is not JSON. */
type Answer = 'text' | 'any';

/** An operation: its path, method, id, summary, and what it takes and answers with. */
type Operation = readonly [
  path: string,
  method: Method,
  id: string,
  summary: string,
  more?: { readonly body?: Body; readonly answer?: Answer; readonly query?: readonly string[] },
];

const INPUT = { body: 'input', answer: 'any', query: ['params'] } as const;
const JSON_BODY = { body: 'json' } as const;
const INSTANCES = { body: 'json', query: ['params'] } as const;

const INFERENCE: readonly Operation[] = [
  ['/', 'options', 'apiDescription', 'Describes this API.'],
  ['/ping', 'get', 'ping', 'Says whether every default version can answer.'],
  [
    '/metrics',
    'get',
    'metrics',
    "Returns the metrics in Prometheus' text format.",
    { answer: 'text', query: ['name[]'] },
  ],
  ['/predictions/{model_name}', 'post', 'predictions', "Predicts with a model's default version.", INPUT],
  ['/predictions/{model_name}', 'options', 'describeApi', "Describes a model's path."],
  ['/predictions/{model_name}/{model_version}', 'post', 'versionPredictions', 'Predicts with one version.', INPUT],
  ['/explanations/{model_name}', 'post', 'explanations', "Explains the answer of a model's default version.", INPUT],
  [
    '/explanations/{model_name}/{model_version}',
    'post',
    'versionExplanations',
    'Explains the answer of one version.',
    INPUT,
  ],
  [
    '/invocations',
    'post',
    'invocations',
    "Predicts, at SageMaker's path.",
    { ...INPUT, query: ['model_name', 'params'] },
  ],
  ['/models/{model_name}/invoke', 'post', 'invoke', "Predicts, at SageMaker's path for several models.", INPUT],
  ['/{model_name}/predict', 'post', 'predict', "Predicts, at TorchServe's older path.", INPUT],
  ['/models', 'get', 'listModels', 'Lists the models.', { query: ['limit', 'next_page_token'] }],
  ['/models/{model_name}', 'get', 'describeModel', "Describes a model's default version.", { query: ['customized'] }],
  [
    '/models/{model_name}/{model_version}',
    'get',
    'versionDescribeModel',
    'Describes one version, or `all`.',
    { query: ['customized'] },
  ],
  ['/wfpredict/{model_name}', 'post', 'wfpredict', 'Predicts with a workflow.', INPUT],
  ['/workflows', 'get', 'listWorkflows', 'Lists the workflows.'],
  ['/workflows/{model_name}', 'get', 'describeWorkflow', 'Describes a workflow.'],
  ['/v1/models', 'get', 'v1Models', "Lists the models, for KServe's and for OpenAI's clients."],
  [
    '/v1/models/{model_name}',
    'get',
    'v1Model',
    "Says whether a model is ready, for KServe's and for OpenAI's clients.",
  ],
  ['/v1/models/{model_name}:predict', 'post', 'v1Predict', "Predicts a batch: KServe's protocol v1.", INSTANCES],
  ['/v1/models/{model_name}:explain', 'post', 'v1Explain', "Explains a batch: KServe's protocol v1.", INSTANCES],
  ['/v1/chat/completions', 'post', 'chatCompletions', "Goes on with a conversation: OpenAI's API.", JSON_BODY],
  ['/v1/completions', 'post', 'completions', "Goes on with a text: OpenAI's API.", JSON_BODY],
  ['/v1/responses', 'post', 'responses', "Goes on with items of a conversation: OpenAI's API.", JSON_BODY],
  ['/v1/responses/{response_id}', 'get', 'response', 'Returns a stored response.'],
  ['/v1/responses/{response_id}', 'delete', 'deleteResponse', 'Deletes a stored response.'],
  ['/v1/rerank', 'post', 'rerank', 'Ranks texts by a query.', JSON_BODY],
  ['/v1/embeddings', 'post', 'embeddings', "Embeds texts: OpenAI's API.", JSON_BODY],
  [
    '/v1/audio/transcriptions',
    'post',
    'transcriptions',
    "Transcribes a recording: OpenAI's API.",
    { body: 'form', answer: 'any' },
  ],
  ['/v1/audio/speech', 'post', 'speech', "Speaks a text: OpenAI's API.", { ...JSON_BODY, answer: 'any' }],
  ['/v2', 'get', 'serverMetadata', 'Describes the server: Open Inference Protocol v2.'],
  ['/v2/health/live', 'get', 'serverLive', 'Says whether the server runs.'],
  ['/v2/health/ready', 'get', 'serverReady', 'Says whether every model can answer.'],
  ['/v2/models/{model_name}', 'get', 'modelMetadata', "Describes a model's tensors."],
  ['/v2/models/{model_name}/ready', 'get', 'modelReady', 'Says whether a model can answer.'],
  ['/v2/models/{model_name}/infer', 'post', 'modelInfer', 'Runs a model on tensors.', JSON_BODY],
  ['/v2/models/{model_name}/versions/{model_version}', 'get', 'versionMetadata', "Describes a version's tensors."],
  [
    '/v2/models/{model_name}/versions/{model_version}/ready',
    'get',
    'versionReady',
    'Says whether a version can answer.',
  ],
  [
    '/v2/models/{model_name}/versions/{model_version}/infer',
    'post',
    'versionInfer',
    'Runs a version on tensors.',
    JSON_BODY,
  ],
  ['/v2/repository/index', 'post', 'repositoryIndex', 'Lists the versions of all models.', JSON_BODY],
];

const REGISTRATION = ['url', 'model_name', 'model_version', 'handler', 'batch_size', 'max_batch_delay'];
const SCALING = { query: ['min_worker', 'max_worker', 'synchronous'] };

const MANAGEMENT: readonly Operation[] = [
  [
    '/models',
    'post',
    'registerModel',
    'Registers a model.',
    { query: [...REGISTRATION, 'response_timeout', 'startup_timeout', 'initial_workers', 'synchronous'] },
  ],
  ['/models/{model_name}', 'put', 'setAutoScale', "Changes the number of a model's workers.", SCALING],
  [
    '/models/{model_name}/{model_version}',
    'put',
    'versionSetAutoScale',
    "Changes the number of a version's workers.",
    SCALING,
  ],
  ['/models/{model_name}/{model_version}/set-default', 'put', 'setDefault', 'Makes a version the default.'],
  ['/models/{model_name}', 'delete', 'unregisterModel', "Removes a model's default version."],
  ['/models/{model_name}/{model_version}', 'delete', 'versionUnregisterModel', 'Removes one version.'],
  ['/workflows', 'post', 'registerWorkflow', 'Registers a workflow.', { query: ['url', 'workflow_name'] }],
  ['/workflows/{model_name}', 'delete', 'unregisterWorkflow', 'Removes a workflow.'],
  ['/v2/repository/models/{model_name}/load', 'post', 'repositoryLoad', 'Loads a model by its name.', JSON_BODY],
  [
    '/v2/repository/models/{model_name}/unload',
    'post',
    'repositoryUnload',
    'Removes every version of a model.',
    JSON_BODY,
  ],
];

/** Returns the description of the whole API as OpenAPI 3.0.1: TorchServe's `OPTIONS /`. */
export function openApi({ management }: Pick<RouteContext, 'management'>): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [path, method, operationId, summary, { body, answer, query = [] } = {}] of management
    ? [...INFERENCE, ...MANAGEMENT]
    : INFERENCE)
    (paths[path] ??= {})[method] = {
      operationId,
      summary,
      parameters: [
        ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter(name!, 'path')),
        ...query.map((name) => parameter(name, 'query')),
      ],
      ...(body && { requestBody: { required: body === 'input', content: BODIES[body] } }),
      responses: { 200: { description: 'OK', content: ANSWERS[answer ?? 'json'] }, default: ERROR },
    };
  return { openapi: '3.0.1', info: { title: 'TabServe', version: VERSION }, paths };
}

const ANY = { schema: {} };
const BYTES = { schema: { type: 'string', format: 'binary' } };
const BODIES = {
  input: { '*/*': BYTES, 'application/json': ANY, 'multipart/form-data': { schema: { type: 'object' } } },
  json: { 'application/json': { schema: { type: 'object' } } },
  form: { 'multipart/form-data': { schema: { type: 'object' } } },
};
const ANSWERS = {
  json: { 'application/json': ANY },
  text: { 'text/plain': { schema: { type: 'string' } } },
  any: { 'application/json': ANY, 'text/plain': { schema: { type: 'string' } }, 'application/octet-stream': BYTES },
};
const ERROR = {
  description: 'An error',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: { code: { type: 'integer' }, type: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

function parameter(name: string, where: 'path' | 'query'): object {
  return { name, in: where, required: where === 'path', schema: { type: 'string' } };
}
