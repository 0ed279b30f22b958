import { shorten } from '../../contract/describe-value.js';
import type { ServedVersion } from '../served-version.js';
import { badRequest, ServingError } from '../serving-error.js';
import { IS_BUILT_IN } from './built-in.js';
import { registerModel } from './management.js';
import { readRegistration } from './management-parameters.js';
import { jsonResponse } from './responses.js';
import { checkMethod, resourceNotFound, type Incoming, type RouteContext } from './route.js';
import type { HttpResponse } from './messages.js';

/**
 * Answers `/workflows…`: TorchServe's management API of workflows. A workflow has a graph of nodes, or is a handler of
 * the app's own with nodes. A built-in task that consists of several models, such as an encoder and a decoder, is a model.
 * Without the server's consent to management, it only lists and describes.
 */
export async function workflows(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const { request, path } = incoming;
  const [, name, ...more] = path;
  if (more.length > 0) throw resourceNotFound();
  const changing = name === undefined ? 'POST' : 'DELETE';
  checkMethod(incoming, 'GET', ...(context.management ? [changing] : []));
  if (request.method === 'POST') return await register(incoming, context);
  if (name === undefined) {
    const listed = context.registry.defaults.filter(isWorkflow);
    return jsonResponse({
      workflows: listed.map(({ options, modelUrl }) => ({ workflowName: options.name, workflowUrl: modelUrl })),
    });
  }
  const served = findWorkflow(name, context);
  if (request.method === 'GET') return jsonResponse([describe(served)]);
  await context.server.unregister(name, served.options.version);
  return jsonResponse({ status: `Workflow "${name}" unregistered` });
}

/** @throws `model-not-found` (404, WorkflowNotFoundException) for what is no workflow */
export function findWorkflow(name: string, { registry }: RouteContext): ServedVersion {
  const served = registry.defaults.find(({ options }) => options.name === name);
  if (served && isWorkflow(served)) return served;
  const message = `Workflow not found: ${shorten(name)}`;
  throw new ServingError('model-not-found', 404, 'WorkflowNotFoundException', message);
}

function isWorkflow({ options: { description } }: ServedVersion): boolean {
  const { config, handler, nodes } = description;
  return config.handler?.['dag'] !== undefined || (nodes !== undefined && !IS_BUILT_IN.test(handler));
}

async function register(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const { workflow_name: name, ...given } = await readRegistration(incoming, context);
  const named = { ...given, ...(name !== undefined && { model_name: name }) };
  const registered = await registerModel(context, named, { signal: incoming.request.signal });
  if (!isWorkflow(context.registry.find(registered.name, registered.version))) {
    await context.server.unregister(registered.name, registered.version);
    throw badRequest(`${registered.name} is no workflow: it has no graph of nodes. Register it at /models.`);
  }
  return jsonResponse({ status: `Workflow ${registered.name} has been registered and scaled successfully.` });
}

/** What `graph_workflow` has below the config's `handler`. */
interface Graph {
  readonly dag?: unknown;
  readonly nodeSettings?: Readonly<Record<string, { readonly maxBatchDelay?: number }>>;
}

/** Returns TorchServe's keys of a workflow: those that mean something here. */
function describe({ options: { name, description }, modelUrl }: ServedVersion): unknown {
  const { config, nodes } = description;
  const { minWorkers, maxWorkers, batchSize } = config;
  const { dag, nodeSettings = {} } = (config.handler ?? {}) as Graph;
  // Rows of a workflow archive wait in its nodes.
  const delays = Object.values(nodeSettings).map((settings) => settings.maxBatchDelay ?? 0);
  return {
    workflowName: name,
    workflowUrl: modelUrl,
    minWorkers,
    maxWorkers,
    batchSize,
    maxBatchDelay: Math.max(config.maxBatchDelay, ...delays),
    ...(dag !== undefined && { workflowDag: JSON.stringify(dag) }),
    nodes: Object.keys(nodes ?? {}),
  };
}
