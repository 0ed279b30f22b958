/** What the compiler reads of a handler's class: the types of its inputs, results, params and explanations. */
import type { Handler, Params } from './handler.js';

/** The type of a handler's input: an element of the list that its `preprocess` takes. */
export type InputOf<H extends Handler> = H['preprocess'] extends (
  data: readonly (infer Input)[],
  ...rest: never[]
) => unknown
  ? Input
  : never;

/** The type of a handler's result for a row: an element of the list that its `postprocess` returns. */
export type ResultOf<H extends Handler> = H['postprocess'] extends (...args: never[]) => infer Results
  ? Awaited<Results> extends readonly (infer Result)[]
    ? Result
    : unknown
  : never;

/**
 * The type of the parts of a handler's answer; never, if the handler declares none, and its parts have the type of its
 * result.
 */
export type PartOf<H extends Handler> = H extends { readonly partType?: infer Part }
  ? unknown extends Part
    ? never
    : Exclude<Part, undefined>
  : never;

/**
 * The type of a handler's result for a request of a sequence: what the class declares as `sequenceResultType`,
 * otherwise its `ResultOf`.
 */
export type SequenceResultOf<H extends Handler> = 'sequenceResultType' extends keyof H
  ? NonNullable<H['sequenceResultType']>
  : ResultOf<H>;

/** The `params` that a request to a handler may give: any, if the handler does not declare them. */
export type ParamsOf<H extends Handler> = NonNullable<H['paramsType']>;

/**
 * The options that `explain` takes for a handler in addition to those of every request: any, if the handler does not
 * declare them.
 */
export type ExplainParamsOf<H extends Handler> = H extends { readonly explainParamsType?: infer Declared }
  ? [keyof NonNullable<Declared>] extends [never]
    ? Params
    : NonNullable<Declared>
  : Params;

/**
 * The type of a handler's explanation of a row: an element of the list that its `explainHandle` or its `getInsights`
 * returns.
 */
export type ExplanationOf<H extends Handler> =
  unknown extends ElementOf<H, 'explainHandle'> ? ElementOf<H, 'getInsights'> : ElementOf<H, 'explainHandle'>;

/**
 * Whether a handler may have explanations: false if the compiler knows that it has those of its base class, which throw
 * `unsupported`.
 */
export type HasExplanations<H extends Handler> = 0 extends 1 & H
  ? true
  : H extends { getInsights(...args: never[]): unknown }
    ? unknown extends ExplanationOf<H>
      ? 0 extends 1 & ExplanationOf<H>
        ? true
        : false
      : true
    : true;

type ElementOf<H, Method extends string> = H extends { readonly [name in Method]: (...args: never[]) => infer Rows }
  ? Awaited<Rows> extends readonly (infer Row)[]
    ? Row
    : unknown
  : unknown;

/** The forms of a handler's result, by the value of the param `result`. A subclass that changes the result has none. */
type FormsOf<H extends Handler> = H extends { readonly resultForms?: infer Forms }
  ? ResultOf<H> extends NonNullable<Forms>[keyof NonNullable<Forms>]
    ? NonNullable<Forms>
    : object
  : object;

/** The values of the param `result` that change the form of a handler's result. */
export type FormName<H extends Handler> = keyof FormsOf<H>;

/** The type of a handler's result if the param `result` is `Form`; `Otherwise` if it is not given. */
export type ResultFor<H extends Handler, Form, Otherwise = ResultOf<H>> = [Form] extends [never]
  ? Otherwise
  : Form extends FormName<H>
    ? FormsOf<H>[Form]
    : Otherwise;
