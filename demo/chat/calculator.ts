/** Computes what a model writes as arithmetic, without running it as code. */
import { Explained } from '../page/explained.js';

const TOKEN = /\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+|\*\*|[-+*/%^()])/gy;
/** How many parentheses and signs may be inside each other. */
const MAX_DEPTH = 100;

/**
 * Returns the value of an expression of numbers, `+ - * / %`, `^` or `**`, and parentheses.
 * @throws what is wrong with it
 */
export function calculate(expression: string): number {
  const tokens = tokensOf(expression);
  let at = 0;
  let depth = 0;
  const takes = (...wanted: readonly string[]): string | undefined =>
    wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined;

  const sum = (): number => {
    let value = product();
    for (let sign = takes('+', '-'); sign; sign = takes('+', '-')) value += sign === '+' ? product() : -product();
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let operator = takes('*', '/', '%'); operator; operator = takes('*', '/', '%')) {
      const other = signed();
      value = operator === '*' ? value * other : operator === '/' ? value / other : value % other;
    }
    return value;
  };
  const signed = (): number => {
    if (++depth > MAX_DEPTH) throw new Explained('The expression has too many parentheses or signs.');
    const sign = takes('+', '-');
    const value = sign ? (sign === '-' ? -1 : 1) * signed() : power();
    depth -= 1;
    return value;
  };
  const power = (): number => {
    const value = operand();
    return takes('^', '**') ? value ** signed() : value;
  };
  const operand = (): number => {
    if (takes('(')) {
      const value = sum();
      if (!takes(')')) throw new Explained('A closing parenthesis is missing.');
      return value;
    }
    const token = tokens[at++];
    const value = Number(token ?? Number.NaN);
    if (Number.isNaN(value)) throw new Explained(`A number is missing ${token ? `before “${token}”` : 'at the end'}.`);
    return value;
  };

  const value = sum();
  if (at < tokens.length) throw new Explained(`“${tokens[at]!}” is not expected there.`);
  return value;
}

function tokensOf(expression: string): readonly string[] {
  const text = expression.trimEnd();
  TOKEN.lastIndex = 0;
  const tokens: string[] = [];
  let end = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    tokens.push(match[1]!);
    end = TOKEN.lastIndex;
  }
  if (end < text.length) throw new Explained(`“${text.slice(end).trim()[0]!}” is no arithmetic.`);
  return tokens;
}
