import { loadScript } from '../../shared/load-script.js';
import type { Handler, HandlerClass, HandlerDescriptor } from '../../contract/handler.js';
import { TabServeError } from '../../contract/errors.js';
import { shorten } from '../../contract/describe-value.js';
import { nearestName } from '../../shared/nearest-name.js';
import { BUILT_IN } from '../tasks/index.js';

/** The built-in handlers' types by name. */
export type HandlerRegistry = {
  readonly [Name in keyof typeof BUILT_IN]: InstanceType<Awaited<ReturnType<(typeof BUILT_IN)[Name]['load']>>>;
};
export type HandlerName = keyof HandlerRegistry;
export const HANDLER_NAMES = Object.keys(BUILT_IN) as readonly HandlerName[];

/** What explains answers, a script that loads when a first explanation is asked for. */
export const EXPLAINERS = {
  images: async () => (await import('../tasks/explain/images.js')).explainImages,
  texts: async () => await import('../tasks/explain/texts.js'),
} as const;

/** The handler class of a name, or any handler if the name is not known at compile time. */
export type HandlerOf<Name extends HandlerName> = [HandlerName] extends [Name] ? Handler : HandlerRegistry[Name];

/** Loads the handler class of a name. @throws `unknown-handler` with the names of the built-in handlers */
export async function loadHandler<Name extends HandlerName>(
  name: Name,
): Promise<(new () => HandlerRegistry[Name]) & HandlerDescriptor>;
export async function loadHandler(name: string | undefined): Promise<HandlerClass>;
export async function loadHandler(name: string | undefined): Promise<HandlerClass> {
  if (name !== undefined && Object.hasOwn(BUILT_IN, name))
    return await loadScript<HandlerClass>(BUILT_IN[name as HandlerName].load);
  const available = `The built-in handlers are ${HANDLER_NAMES.join(', ')}`;
  const meant = nearestHandlerName(name);
  throw new UnknownHandler(
    name,
    isPython(name)
      ? `Write its stages as a class in a worker of your own, and connect() to it; or name a built-in handler in the option \`handler\`. ${available}.`
      : isClass(name)
        ? `${available}. Set the option \`handler\` to one of them, such as base_handler for the model's tensors or text_feature_extractor for a text's features, or connect() to a handler of your own.`
        : `${meant === undefined ? '' : `Probably ${meant} is meant. `}${available}. Use connect() for a handler of your own.`,
    isClass(name) ? await taskOf(name) : undefined,
  );
}

/** Returns the built-in handler whose name was probably meant, such as `object_detector` for `object-detection`. */
export function nearestHandlerName(name: string | undefined): HandlerName | undefined {
  if (name === undefined || isPython(name)) return undefined;
  const nearest = nearestName(name.replaceAll('-', '_'), HANDLER_NAMES) as HandlerName | undefined;
  return isClass(name) ? undefined : nearest;
}

/** The error for a model of no built-in handler. */
export class UnknownHandler extends TabServeError {
  /**
   * @param handler the name of which there is none
   * @param advice what to do about it
   * @param task the task of an architecture, in words
   */
  constructor(
    readonly handler: string | undefined,
    advice: string,
    readonly task?: string,
  ) {
    super('unknown-handler', `${whatIsUnknown(handler, task)} ${advice}`);
  }
}

/** Returns an architecture's task in words. */
async function taskOf(architecture: string): Promise<string | undefined> {
  const { taskOfArchitecture } = await loadScript(() => import('../tasks/architectures.js'));
  return taskOfArchitecture(architecture);
}

function whatIsUnknown(name: string | undefined, task: string | undefined): string {
  if (name === undefined)
    return 'Neither the archive (its manifest, or `architectures` in config.json) nor the option `handler` names a handler.';
  const there = `There is no built-in handler "${shorten(name)}".`;
  if (isPython(name)) return `${there} A Python handler does not run in a browser.`;
  if (!isClass(name)) return there;
  return /For[A-Z]|Model(?:WithProjection)?$/.test(name)
    ? `${there} It is the architecture that config.json names${task === undefined ? '' : ` (${task})`}, and none of the built-in handlers runs it.`
    : `${there} If it is the architecture that config.json names, none of the built-in handlers runs it.`;
}

function isPython(name: string | undefined): boolean {
  return name !== undefined && /\.py\b|:/.test(name);
}

/** Returns whether a name is that of a class, as those of transformers. Built-in handlers have lowercase names. */
function isClass(name: string | undefined): name is string {
  return name !== undefined && /^[A-Z]\w*$/.test(name);
}
