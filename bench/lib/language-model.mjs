/**
 * Writes a language model whose weights mean nothing, as Hugging Face's hub has them: that of Llama, with the tokenizer of
 * a model of the tests.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node, tensor, writeModel } from './onnx.mjs';
import { randomNumbers } from './random.mjs';

/** 11 million weights: 44 MB. */
const [LAYERS, HIDDEN, INNER, HEADS, CONTEXT] = [6, 384, 1024, 6, 1024];
const HEAD = HIDDEN / HEADS;
const ROPE_THETA = 10_000;
/** ONNX's number of int32. */
const INT32 = 6;

const TOKENIZER = fileURLToPath(new URL('../../test/models/generation/llama_fused/', import.meta.url));

/**
 * Writes the model's repository.
 * @param {string} folder
 * @param {'fused' | 'plain'} attention by ONNX Runtime's GroupQueryAttention, as its exporter of language models writes
 *   it, or by ONNX's own operators
 */
export async function writeLanguageModel(folder, attention) {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(TOKENIZER, file), join(folder, file));
  const { vocab_size: vocabulary } = JSON.parse(readFileSync(join(TOKENIZER, 'config.json'), 'utf8'));
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_size: HIDDEN,
    intermediate_size: INNER,
    num_hidden_layers: LAYERS,
    num_attention_heads: HEADS,
    num_key_value_heads: HEADS,
    head_dim: HEAD,
    max_position_embeddings: CONTEXT,
    rope_theta: ROPE_THETA,
    vocab_size: vocabulary,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  // No token ends an answer.
  writeFileSync(join(folder, 'generation_config.json'), '{}');
  await writeGraph(join(folder, 'onnx/model.onnx'), vocabulary, attention);
}

async function writeGraph(path, vocabulary, attention) {
  const random = randomNumbers();
  const nodes = [];
  const tensors = [];
  const constant = (name, dims, data) => {
    tensors.push(tensor(name, dims, data));
    return name;
  };
  const weights = (name, rows, columns) => {
    const reach = Math.sqrt(3 / rows);
    const values = Float32Array.from({ length: rows * columns }, () => reach * (2 * random() - 1));
    return constant(name, [rows, columns], values);
  };
  const add = (type, inputs, attributes, output = `${type}_${nodes.length}`) => {
    nodes.push(node(type, inputs, output, attributes));
    return output;
  };
  const times = (input, name, from, to) => add('MatMul', [input, weights(name, from, to)]);
  const scale = constant('scale', [HIDDEN], new Float32Array(HIDDEN).fill(1));
  const norm = (input) => add('SimplifiedLayerNormalization', [input, scale]);

  const attend = (attention === 'fused' ? fusedAttention : plainAttention)(add, constant);
  // As Optimum calls the axes: transformers.js knows them by these names.
  const cache = ['batch_size', HEADS];
  const inputs = [
    ['input_ids', ['batch_size', 'sequence_length'], 'int64'],
    ['attention_mask', ['batch_size', 'total_sequence_length'], 'int64'],
    ...(attention === 'plain' ? [['position_ids', ['batch_size', 'sequence_length'], 'int64']] : []),
  ];
  const outputs = [['logits', ['batch_size', 'sequence_length', vocabulary]]];
  let hidden = add('Gather', [weights('embedding', vocabulary, HIDDEN), 'input_ids']);
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = `layers.${layer}`;
    const [past, present] = ['past_key_values', 'present'].map((name) =>
      ['key', 'value'].map((part) => `${name}.${layer}.${part}`),
    );
    inputs.push(...past.map((name) => [name, [...cache, 'past_sequence_length', HEAD]]));
    outputs.push(...present.map((name) => [name, [...cache, 'total_sequence_length', HEAD]]));
    const own = norm(hidden);
    const parts = ['query', 'key', 'value'].map((name) => times(own, `${at}.${name}`, HIDDEN, HIDDEN));
    const seen = attend(parts, past, present);
    hidden = add('Add', [hidden, times(seen, `${at}.output`, HIDDEN, HIDDEN)]);
    const normed = norm(hidden);
    const gate = times(normed, `${at}.gate`, HIDDEN, INNER);
    const open = add('Mul', [gate, add('Sigmoid', [gate])]);
    const wide = add('Mul', [open, times(normed, `${at}.up`, HIDDEN, INNER)]);
    hidden = add('Add', [hidden, times(wide, `${at}.down`, INNER, HIDDEN)]);
  }
  add('MatMul', [norm(hidden), weights('head', HIDDEN, vocabulary)], {}, 'logits');
  await writeModel(path, { name: 'llama', nodes, tensors, inputs, outputs });
}

/** ONNX Runtime's own operator: it counts each row's tokens in the mask. */
function fusedAttention(add, constant) {
  const one = constant('one', [1], BigInt64Array.of(1n));
  const counts = add('Sub', [add('ReduceSum', ['attention_mask', one], { keepdims: 0 }), one]);
  const lastPlaces = add('Cast', [counts], { to: INT32 });
  const index = constant('index', [], BigInt64Array.of(1n));
  const total = add('Cast', [add('Gather', [add('Shape', ['attention_mask']), index])], { to: INT32 });
  const turns = rotations(constant);
  return (parts, past, present) => {
    const [seen] = present.map((name) => `${name}.seen`);
    const given = [...parts, ...past, lastPlaces, total, ...turns];
    add('GroupQueryAttention', given, { num_heads: HEADS, kv_num_heads: HEADS, do_rotary: 1 }, [seen, ...present]);
    return seen;
  };
}

/** Products of matrices, and a mask that is added: a token sees those before it that count. */
function plainAttention(add, constant) {
  const scalar = (name, value) => constant(name, [], BigInt64Array.of(BigInt(value)));
  const [zero, one] = [scalar('zero', 0), scalar('one', 1)];
  const [first, second] = [constant('first', [1], BigInt64Array.of(0n)), constant('second', [1], BigInt64Array.of(1n))];
  const size = (input) => add('Gather', [add('Shape', [input]), one]);
  const total = size('attention_mask');
  const places = add('Range', [zero, total, one]);
  const ownPlaces = add('Range', [add('Sub', [total, size('input_ids')]), total, one]);
  const isBefore = add('LessOrEqual', [add('Unsqueeze', [places, first]), add('Unsqueeze', [ownPlaces, second])]);
  const axes = constant('axes', [2], BigInt64Array.of(1n, 2n));
  const counts = add('Unsqueeze', [add('Equal', ['attention_mask', one]), axes]);
  const [seen, unseen] = [0, -1e9].map((value) => constant(`bias${value}`, [1], Float32Array.of(value)));
  const bias = add('Where', [add('And', [counts, isBefore]), seen, unseen]);
  const scale = constant('root', [1], Float32Array.of(1 / Math.sqrt(HEAD)));
  const byHead = constant('byHead', [4], BigInt64Array.of(0n, 0n, BigInt(HEADS), BigInt(HEAD)));
  const joined = constant('joined', [3], BigInt64Array.of(0n, 0n, BigInt(HIDDEN)));
  const turns = rotations(constant);
  return (parts, [pastKey, pastValue], [presentKey, presentValue]) => {
    const heads = parts.map((part) => add('Transpose', [add('Reshape', [part, byHead])], { perm: [0, 2, 1, 3] }));
    const turned = heads.slice(0, 2).map((head) => add('RotaryEmbedding', [head, 'position_ids', ...turns]));
    add('Concat', [pastKey, turned[1]], { axis: 2 }, presentKey);
    add('Concat', [pastValue, heads[2]], { axis: 2 }, presentValue);
    const keys = add('Transpose', [presentKey], { perm: [0, 1, 3, 2] });
    const scores = add('Add', [add('Mul', [add('MatMul', [turned[0], keys]), scale]), bias]);
    const mixed = add('MatMul', [add('Softmax', [scores], { axis: 3 }), presentValue]);
    return add('Reshape', [add('Transpose', [mixed], { perm: [0, 2, 1, 3] }), joined]);
  };
}

/** Returns the names of the cosines and sines of the angles at each place. */
function rotations(constant) {
  const angle = (at) => (at >> 5) / ROPE_THETA ** ((at & 31) / 32);
  const turns = (of) => Float32Array.from({ length: (CONTEXT * HEAD) / 2 }, (_, at) => of(angle(at)));
  return [Math.cos, Math.sin].map((of) => constant(of.name, [CONTEXT, HEAD / 2], turns(of)));
}
