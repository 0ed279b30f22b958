/**
 * `/v1/…`: OpenAI's API of responses, chats, completions, embeddings and models, as its clients speak it. Answers to `GET
 * /v1/models[/NAME]` also have the fields of KServe's protocol v1.
 */
import type { ServedVersion } from '../../served-version.js';
import { readJson } from '../request-body.js';
import { jsonResponse } from '../responses.js';
import { ServingError } from '../../serving-error.js';
import { shorten } from '../../../contract/describe-value.js';
import { checkMethod, type Incoming, type RouteContext } from '../route.js';
import { chatCompletions, completions } from './completions.js';
import { embeddings } from './embeddings.js';
import { openAiResponse } from './errors.js';
import { rerank } from './rerank.js';
import { responses, storedResponse } from './responses.js';
import { fieldsOf, wrongValue, type Body } from './request.js';
import type { HttpRequest, HttpResponse } from '../messages.js';

type Answer = (body: Body, served: ServedVersion, request: HttpRequest, context: RouteContext) => Promise<HttpResponse>;

const ANSWERS: ReadonlyMap<string, Answer> = new Map([
  ['chat/completions', chatCompletions],
  ['completions', completions],
  ['embeddings', embeddings],
  ['responses', responses],
  ['rerank', rerank],
]);

/** Answers a request of OpenAI's API. Never rejects: an error has OpenAI's form. */
export async function openAi(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  try {
    return await route(incoming, context);
  } catch (error) {
    return openAiResponse(error);
  }
}

async function route(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const [, ...path] = incoming.path;
  const { registry } = context;
  if (path[0] === 'models' && path.length <= 2) {
    checkMethod(incoming, 'GET', 'HEAD');
    const name = path[1];
    if (name !== undefined) return jsonResponse(modelObject(registry.find(name)));
    const { defaults } = registry;
    return jsonResponse({
      object: 'list',
      data: defaults.map(modelObject),
      models: defaults.map(({ options }) => options.name),
    });
  }
  if (path[0] === 'responses' && path.length === 2) return storedResponse(incoming, path[1]!, context);
  const answer = ANSWERS.get(path.join('/'));
  if (!answer) throw unknownPath(incoming);
  checkMethod(incoming, 'POST');
  const body = fieldsOf(await readJson(incoming.request, context));
  const { model } = body;
  if (typeof model !== 'string') throw wrongValue('model', "a model's name", model);
  return await answer(body, registry.find(model), incoming.request, context);
}

/** Returns the error for a path that is not there: it names those that are. */
function unknownPath({ request: { method }, path }: Incoming): ServingError {
  const there = [...ANSWERS.keys(), 'responses/ID', 'models', 'models/NAME'].map((one) => `/v1/${one}`).join(', ');
  const message = `There is no ${method} ${shorten(`/${path.join('/')}`)}. Of OpenAI's API, there are ${there}; of KServe's, /v1/models/NAME:predict and :explain.`;
  return new ServingError('invalid-input', 404, 'ResourceNotFoundException', message);
}

function modelObject({ options: { name, loadedAt }, hasFailed }: ServedVersion): object {
  const created = Math.floor(loadedAt.getTime() / 1000);
  return { id: name, object: 'model', created, owned_by: 'tabserve', name, ready: !hasFailed };
}
