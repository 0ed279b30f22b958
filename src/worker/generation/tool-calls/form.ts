/** The forms in which language models write calls of tools. */

/** A call, as a model has written it. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The tools of a request: their parameters as JSON Schemas, by their names. */
export type Tools = ReadonlyMap<string, unknown>;

/** How a guided answer writes calls. */
export interface GuidedForm {
  /** Before the first call, between two, and after the last one. */
  readonly begin: string;
  /** Undefined if the form has one call alone. */
  readonly between?: string;
  readonly end: string;
  /** Returns the text before and after the arguments of a call. */
  around(name: string): readonly [before: string, after: string];
}

/** A form of calls. */
export interface ToolCallForm {
  /** What a chat template has in its text that writes this form. */
  readonly sign: RegExp;
  /** The texts that begin calls. */
  readonly begins: readonly string[];
  /** The texts that end them. Without any, calls are the rest of the answer. */
  readonly ends: readonly string[];
  /** The character that begins calls at the start of an answer, where nothing marks them. */
  readonly opening?: string;
  /** Other special tokens that are written between `begins` and `ends`. */
  readonly tokens?: readonly string[];
  /** Returns how a guided answer writes calls. @param template the source of the chat template */
  readonly guided?: (template: string) => GuidedForm;
  /**
   * Reads calls.
   * @param text between the texts that begin and end them
   * @returns undefined if the text is something else, or is cut off
   */
  parse(text: string, tools: Tools): readonly WrittenCall[] | undefined;
}

/** Returns a call; undefined if a name or its arguments are none. */
export function callOf(name: unknown, given: unknown): WrittenCall | undefined {
  const value = typeof given === 'string' ? jsonOf(given) : given;
  if (typeof name !== 'string' || name === '' || typeof value !== 'object' || value === null || Array.isArray(value))
    return undefined;
  return { name, arguments: value as WrittenCall['arguments'] };
}

/** Returns calls, if all of them are some, and there is one. */
export function allCalls(calls: readonly (WrittenCall | undefined)[]): readonly WrittenCall[] | undefined {
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

/** Returns the value of a text of JSON; undefined if it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns where an object of JSON ends that begins at an index; undefined if there is none, or no end. */
export function endOfObject(text: string, from: number): number | undefined {
  if (text[from] !== '{') return undefined;
  let [depth, isString] = [0, false];
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at += 1;
      else isString = character !== '"';
    } else if (character === '"') isString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

/** Returns the call that an object of JSON is: `{ name, arguments }`, or with `parameters`. */
export function callOfJson(value: unknown): WrittenCall | undefined {
  const { name, arguments: given, parameters } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return callOf(name, given ?? parameters ?? {});
}

/**
 * Returns an argument that is written without quotation marks: a text if its schema says so, otherwise the value of
 * its JSON, or the text if it is none.
 */
export function bareArgument(text: string, tool: unknown, name: string): unknown {
  const { properties } = (tool ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  };
  const type = properties?.[name]?.type;
  const value = type === 'string' ? undefined : jsonOf(text);
  return value === undefined ? text : value;
}
