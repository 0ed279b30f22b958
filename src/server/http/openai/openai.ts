/**
 * `/v1/…`: OpenAI's API of responses, chats, completions, embeddings, transcriptions, speech and models, as its clients speak it.
 * Answers to `GET /v1/models[/NAME]` also have the fields of KServe's protocol v1.
 */
import type { ServedVersion } from '../../served-version.js';
import { isForm, readInput, readJson } from '../request-body.js';
import { jsonResponse } from '../responses.js';
import { ServingError, unsupportedType } from '../../serving-error.js';
import { shorten } from '../../../contract/describe-value.js';
import { checkMethod, type Incoming, type RouteContext } from '../route.js';
import { chatCompletions, completions } from './completions.js';
import { transcriptions } from './transcriptions.js';
import { embeddings } from './embeddings.js';
import { openAiResponse } from './errors.js';
import { rerank } from './rerank.js';
import { responses, storedResponse } from './responses.js';
import { speech } from './speech.js';
import { fieldsOf, wrongValue, type Body } from './request.js';
import type { HttpRequest, HttpResponse } from '../messages.js';

/** Its body is a form, with a file. */
const TRANSCRIPTIONS = 'audio/transcriptions';

type Answer = (body: Body, served: ServedVersion, request: HttpRequest, context: RouteContext) => Promise<HttpResponse>;

const ANSWERS: ReadonlyMap<string, Answer> = new Map([
  ['chat/completions', chatCompletions],
  ['completions', completions],
  ['embeddings', embeddings],
  ['responses', responses],
  ['rerank', rerank],
  [TRANSCRIPTIONS, transcriptions],
  ['audio/speech', speech],
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
  const name = path.join('/');
  const answer = ANSWERS.get(name);
  if (!answer) throw unknownPath(incoming);
  checkMethod(incoming, 'POST');
  const body = fieldsOf(
    await (name === TRANSCRIPTIONS ? readFields(incoming, context) : readJson(incoming.request, context)),
  );
  const { model } = body;
  if (typeof model !== 'string') throw wrongValue('model', "a model's name", model);
  return await answer(body, registry.find(model), incoming.request, context);
}

/** @throws `invalid-input` if the body is no form */
async function readFields({ request }: Incoming, context: RouteContext): Promise<unknown> {
  if (isForm(request)) return await readInput(request, context);
  throw unsupportedType('The body is no form: send multipart/form-data with the fields "model" and "file".');
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
