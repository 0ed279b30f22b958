/** Calculates expressions. */
import { calculate, signed } from './arithmetic.js';
import type { Call, Expression } from './ast.js';
import { attributeOf, callValue, itemOf, sliceOf } from './attributes.js';
import { compare, contains, isEqual, isTrue, iterate } from './compare.js';
import { failure } from './errors.js';
import type { FilterTools } from './filter.js';
import { applyFilter } from './filters.js';
import { toText } from './print.js';
import type { Scope } from './scope.js';
import { applyTest } from './tests.js';
import type { Budget } from './budget.js';
import { Dict, Tuple, Undefined, type Arguments, type Value } from './values.js';

/** Calculates the expressions of one rendering. */
export class Evaluator {
  readonly #tools: FilterTools;

  constructor(readonly budget: Budget) {
    const tools: FilterTools = {
      budget,
      filter: (name, value, given) => applyFilter(name, value, given, tools),
      test: (name, value, given) => applyTest(name, value, given, tools),
    };
    this.#tools = tools;
  }

  value(expression: Expression, scope: Scope): Value {
    this.budget.step();
    const value = (one: Expression): Value => this.value(one, scope);
    switch (expression.type) {
      case 'constant':
        return expression.value;
      case 'name':
        return scope.get(expression.name);
      case 'list':
        return expression.items.map(value);
      case 'tuple':
        return Tuple.with(expression.items.map(value));
      case 'dict':
        return new Dict(expression.entries.map(([key, one]) => [value(key), value(one)]));
      case 'attribute':
        return attributeOf(value(expression.of), expression.name, this.budget);
      case 'item':
        return itemOf(value(expression.of), value(expression.key), this.budget);
      case 'slice':
        return sliceOf(
          value(expression.of),
          expression.parts.map((part) => part && value(part)),
          this.budget,
        );
      case 'call':
        return callValue(value(expression.of), this.args(expression.given, scope), this.budget);
      case 'filter':
        return this.filter(expression.name, value(expression.of), expression.given, scope);
      case 'test':
        return applyTest(expression.name, value(expression.of), this.args(expression.given, scope), this.#tools);
      case 'unary': {
        const of = value(expression.of);
        return expression.operator === 'not' ? !isTrue(of) : signed(expression.operator, of);
      }
      case 'binary':
        return this.#binary(expression, scope);
      case 'concat': {
        const text = expression.items.map((item) => toText(value(item), this.budget)).join('');
        this.budget.make(text.length);
        return text;
      }
      case 'compare':
        return this.#compare(expression, scope);
      case 'if':
        if (isTrue(value(expression.test))) return value(expression.value);
        return expression.otherwise ? value(expression.otherwise) : new Undefined('the inline if has no else');
    }
  }

  args({ args, named, rest, namedRest }: Call, scope: Scope): Arguments {
    const value = (one: Expression): Value => this.value(one, scope);
    const all = args.map(value);
    for (const one of rest ? iterate(value(rest)) : []) {
      this.budget.step();
      all.push(one);
    }
    const names = new Map(named.map(([name, one]) => [name, value(one)]));
    const more = namedRest && value(namedRest);
    if (more !== undefined && !(more instanceof Dict)) throw failure('argument after ** must be a mapping');
    this.budget.step(more?.size);
    for (const [name, one] of more?.entries() ?? []) names.set(toText(name, this.budget), one);
    return { args: all, named: names };
  }

  filter(name: string, value: Value, given: Call, scope: Scope): Value {
    return applyFilter(name, value, this.args(given, scope), this.#tools);
  }

  #binary({ operator, left, right }: Expression & { readonly type: 'binary' }, scope: Scope): Value {
    const first = this.value(left, scope);
    if (operator === 'and') return isTrue(first) ? this.value(right, scope) : first;
    if (operator === 'or') return isTrue(first) ? first : this.value(right, scope);
    return calculate(operator, first, this.value(right, scope), this.budget);
  }

  /** Compares as Python does: `a < b < c` is `a < b and b < c`. */
  #compare({ first, others }: Expression & { readonly type: 'compare' }, scope: Scope): boolean {
    let left = this.value(first, scope);
    for (const [operator, expression] of others) {
      const right = this.value(expression, scope);
      if (!holds(operator, left, right, this.budget)) return false;
      left = right;
    }
    return true;
  }
}

function holds(operator: string, left: Value, right: Value, budget: Budget): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right, budget);
    case '!=':
      return !isEqual(left, right, budget);
    case 'in':
      return contains(right, left, budget);
    case 'not in':
      return !contains(right, left, budget);
    default: {
      const order = compare(left, right, budget, operator);
      return operator[0] === '<'
        ? order < 0 || (operator === '<=' && order === 0)
        : order > 0 || (operator === '>=' && order === 0);
    }
  }
}
