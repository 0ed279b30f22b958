/** What the parser makes of a template. */
import type { Value } from './values.js';

export interface Call {
  readonly args: readonly Expression[];
  readonly named: readonly (readonly [name: string, value: Expression])[];
  /** `*args` and `**kwargs`. */
  readonly rest: Expression | undefined;
  readonly namedRest: Expression | undefined;
}

export type Expression =
  | { readonly type: 'constant'; readonly value: Value }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'list' | 'tuple'; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly type: 'attribute'; readonly of: Expression; readonly name: string }
  | { readonly type: 'item'; readonly of: Expression; readonly key: Expression }
  | { readonly type: 'slice'; readonly of: Expression; readonly parts: readonly (Expression | undefined)[] }
  | { readonly type: 'call'; readonly of: Expression; readonly given: Call }
  | { readonly type: 'filter' | 'test'; readonly of: Expression; readonly name: string; readonly given: Call }
  | { readonly type: 'unary'; readonly operator: string; readonly of: Expression }
  | { readonly type: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'concat'; readonly items: readonly Expression[] }
  | {
      readonly type: 'compare';
      readonly first: Expression;
      readonly others: readonly (readonly [operator: string, Expression])[];
    }
  | {
      readonly type: 'if';
      readonly test: Expression;
      readonly value: Expression;
      readonly otherwise: Expression | undefined;
    };

/** What a value is assigned to. */
export type Target =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'attribute'; readonly of: string; readonly name: string }
  | { readonly type: 'tuple'; readonly items: readonly Target[] };

/** A body with parameters: of a macro, or of a call block. */
export interface Routine {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly byDefault: Expression | undefined }[];
  readonly body: Body;
  /** Which of `varargs`, `kwargs` and `caller` the body uses. */
  readonly uses: ReadonlySet<string>;
}

export type Body = readonly Statement[];

export type Statement =
  | { readonly type: 'data'; readonly text: string }
  | { readonly type: 'print'; readonly value: Expression }
  | { readonly type: 'set'; readonly target: Target; readonly value: Expression }
  | { readonly type: 'set-block'; readonly target: Target; readonly filters: Filters; readonly body: Body }
  | { readonly type: 'if'; readonly branches: readonly (readonly [Expression, Body])[]; readonly otherwise: Body }
  | {
      readonly type: 'for';
      readonly target: Target;
      readonly of: Expression;
      readonly test: Expression | undefined;
      readonly isRecursive: boolean;
      readonly body: Body;
      readonly otherwise: Body;
    }
  | { readonly type: 'break' | 'continue' }
  | { readonly type: 'macro'; readonly routine: Routine }
  | { readonly type: 'call'; readonly routine: Routine; readonly of: Expression; readonly given: Call }
  | { readonly type: 'filter'; readonly filters: Filters; readonly body: Body }
  | { readonly type: 'with'; readonly values: readonly (readonly [Target, Expression])[]; readonly body: Body };

/** Filters that are applied to the text of a block. */
export type Filters = readonly { readonly name: string; readonly given: Call }[];
