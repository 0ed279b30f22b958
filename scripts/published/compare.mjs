import { editDistance } from '../../bench/lib/edit-distance.mjs';

/** How an answer differs from Python's. Each returns what the table says, and whether it is near enough. */
const largest = (one, other) => Math.max(...one.map((value, at) => Math.abs(value - other[at])));
const difference = (value, most) => ({ text: `within ${value.toExponential(0)}`, holds: value <= most });
const same = (answers, expected) => answers.filter((text, at) => text.trim() === expected[at].trim()).length;
const counted = (found, total, least) => ({ text: `${found} of ${total} texts`, holds: found >= least });

/** 8 bits are computed with other kernels than Python's on this CPU. */
const VECTOR = { fp32: 1e-5, q8: 5e-2 };
/** Percent of the words of ten recordings. */
const MORE_WRONG = 5;
/** Of a GPU, whose sums have another order. */
const VECTOR_ON_GPU = 1e-4;
/** @type {Record<string, (answers: any, expected: any, dtype: string, where: string) => { text: string, holds: boolean }>} */
export const COMPARE = {
  vectors: (answers, { answers: expected }, dtype, where) =>
    difference(
      Math.max(...answers.map((vector, at) => largest([...vector], expected[at]))),
      where.includes('WebGPU') ? VECTOR_ON_GPU : VECTOR[dtype],
    ),
  words(answers, { answers: expected }, dtype, where) {
    const texts = answers.map(({ text }) => text);
    const { text, holds } = counted(
      same(texts, expected.transformers),
      texts.length,
      dtype === 'fp32' ? texts.length : 0,
    );
    // In 8 bits, Python has other words on a processor with other kernels, and rounding may lead to those of full precision.
    const forms = Object.entries(expected).flatMap(([key, form]) =>
      key === dtype || key.startsWith(`${dtype}, `) ? [form] : [],
    );
    const equal = Math.max(...forms.map((form) => same(texts, form)));
    const known = dtype === 'q8' ? [...forms, expected.transformers] : forms;
    const right = texts.filter((one, at) => known.some((form) => form[at].trim() === one.trim())).length;
    // One answer of five was other words in 8 bits on WASM, whose kernels round in another way.
    const mayDiffer = dtype === 'q8' && where !== 'Node' && texts.length > 1 ? 1 : 0;
    return {
      text: `${text}; ONNX Runtime in Python on the same file: ${equal} of ${texts.length}`,
      holds: holds && right >= texts.length - mayDiffer,
    };
  },
  /** Of recordings whose words are known: how many are wrong, beside those that Python has wrong. */
  transcripts(answers, expected, dtype, where) {
    const { text, holds } = COMPARE.words(answers, expected, dtype, where);
    const { transformers, ...onFiles } = expected.answers;
    const own = errorRate(
      answers.map((answer) => answer.text),
      expected.said,
    );
    const python = Object.entries(onFiles).flatMap(([key, texts]) =>
      key.startsWith(dtype) ? [errorRate(texts, expected.said)] : [],
    );
    const rates = `${own} % of the words wrong, in Python ${python.join(' or ')} %, transformers ${errorRate(transformers, expected.said)} %`;
    // In 8 bits, another rounding is other words: not more wrong ones.
    return { text: `${text}; ${rates}`, holds: dtype === 'q8' ? own <= Math.max(...python) + MORE_WRONG : holds };
  },
  /** Of sounds in which nobody speaks. */
  nothing: (answers) =>
    counted(answers.filter(({ text }) => text.trim() === '').length, answers.length, answers.length),
  lines: (answers, { answers: expected }) =>
    counted(
      answers.filter((lines, at) => lines.map(({ text }) => text).join('\n') === expected[at].join('\n')).length,
      expected.length,
      expected.length,
    ),
  /** Points that the model sees, in pixels. */
  points: ([[{ landmarks }]], { answers: [expected] }) =>
    difference(
      Math.max(...landmarks.map(({ x, y }, at) => (expected[at][2] > 0.3 ? distance([x, y], expected[at]) : 0))),
      2,
    ),
  bytes: ([{ bytes }], { answers: [{ every97th }] }) => difference(largest(bytes, every97th), 1),
  probabilities: ([{ probabilities }], { answers: [expected] }) =>
    difference(largest([...probabilities].slice(0, expected.length), expected), 1e-4),
  scores: (answers, { answers: expected }) =>
    difference(Math.max(...answers.map(({ scores: [own] }, at) => largest(own, expected[at]))), 1e-3),
  /** Who speaks when. */
  turns(answers, { answers: expected }) {
    const named = (turns) => turns.map(({ speaker }) => speaker).join();
    const isSame = answers.every((turns, at) => named(turns) === named(expected[at]));
    const times = (turns) => turns.flatMap(({ start, end }) => [start, end]);
    const most = Math.max(...answers.map((turns, at) => largest(times(turns), times(expected[at]))));
    return difference(isSame ? most : Infinity, 1e-3);
  },
  sound: (answers, { answers: expected }) => {
    const isWhole = answers.every(({ samples }, at) => samples === expected[at].samples);
    const most = Math.max(...answers.map(({ every97th }, at) => largest(every97th, expected[at].every97th)));
    return difference(isWhole ? most : Infinity, 1e-3);
  },
  opacity: ([{ alpha }], { answers: [expected] }) => difference(largest(alpha, expected.every97th), 1),
};

/** Returns the words that are wrong, in percent of those that were said. */
function errorRate(texts, said) {
  const wordsOf = (text) => text.toLowerCase().match(/[a-z0-9£']+/g) ?? [];
  const wrong = texts.reduce((sum, text, at) => sum + editDistance(wordsOf(said[at]), wordsOf(text)), 0);
  return Math.round((100 * wrong) / said.flatMap(wordsOf).length);
}

function distance([x, y], [otherX, otherY]) {
  return Math.hypot(x - otherX, y - otherY);
}
