/**
 * A model on a server with TorchServe's inference API: `GET /ping`, `POST /predictions/{name}[/{version}]`. TorchServe
 * knows rows, not tensors, and puts the rows of many requests into a batch itself. So each row travels alone, as JSON:
 * the lists of its input or, if the model has several inputs, a mapping of their names to lists. The answer has the
 * same form: the lists of the row's output, or a mapping of the outputs' names to lists. TorchServe does not describe
 * its models: the archive's config declares inputs and outputs.
 */
import { TabServeError } from '../../../contract/errors.js';
import type { RemoteModel } from '../../../contract/remote.js';
import type { TensorInfo, Tensors } from '../../../contract/tensors.js';
import { Fault, withFaults } from '../../../shared/open-inference/fault.js';
import { parseExact } from '../../../shared/open-inference/tensor-json.js';
import { isRecord } from '../../../shared/schema.js';
import { type Answer, checkOutputs, describeAnswer, isOk, type OpenRemote, pathOf } from './protocol.js';
import { joinRows, rowFromJson, rowToJson } from '../../tensors/nested-lists.js';

/** Opens a model: asks whether the server is healthy. Only the first prediction shows whether it has the model. */
export const torchServe: OpenRemote = async (name, remote, send) => {
  const [inputs, outputs] = [declared(remote, 'inputs'), declared(remote, 'outputs')];
  const path = `predictions/${remote.version === undefined ? pathOf(name) : pathOf(name, remote.version)}`;
  const ping = await send({ path: 'ping' });
  if (!isOk(ping)) throw new TabServeError('backend-failed', `The server is not healthy: ${describeAnswer(ping)}.`);
  return {
    inputs,
    outputs,
    async run(feeds, { signal } = {}) {
      const rows: Tensors[] = [];
      for (let row = 0; row < rowCount(feeds, inputs); row++) {
        const body = writeRow(feeds, inputs, row);
        const answer = await send({ path, body, headers: { 'Content-Type': 'application/json' }, signal });
        if (!isOk(answer)) throw new TabServeError('inference-failed', `${describeAnswer(answer)}.`);
        rows.push(readRow(answer, outputs));
      }
      const joined = withFaults('inference-failed', "The server's answers", () =>
        outputs.map((output) => [output.name, joinRows(rows.map((one) => one[output.name]!))] as const),
      );
      return checkOutputs(Object.fromEntries(joined), outputs);
    },
  };
};

/** @throws `model-config` if they are missing, or one of them has no batch axis */
function declared(remote: RemoteModel, key: 'inputs' | 'outputs'): readonly TensorInfo[] {
  const infos = remote[key] ?? [];
  const wrong = infos.find(({ dims }) => dims.length === 0);
  if (infos.length > 0 && !wrong) return infos;
  throw new TabServeError(
    'model-config',
    wrong
      ? `engine.remote.${key}: "${wrong.name}" has no dims; the first one must be the batch axis.`
      : `engine.remote.${key} is missing. TorchServe does not describe its models, so the archive's config declares their ${key}.`,
  );
}

function rowCount(feeds: Tensors, inputs: readonly TensorInfo[]): number {
  const counts = inputs.map(({ name }) => feeds[name]!.dims[0]!);
  const [rows = 0] = counts;
  if (rows > 0 && counts.every((count) => count === rows)) return rows;
  throw new TabServeError(
    'invalid-input',
    `All inputs must have the same number of rows, at least one; they have ${counts.join(', ')}.`,
  );
}

function writeRow(feeds: Tensors, inputs: readonly TensorInfo[], row: number): string {
  return withFaults('invalid-input', 'The request', () => {
    const lists = inputs.map(({ name }) => [name, rowToJson(feeds[name]!, row)] as const);
    if (lists.length === 1) return lists[0]![1];
    return `{${lists.map(([name, list]) => `${JSON.stringify(name)}:${list}`).join(',')}}`;
  });
}

function readRow(answer: Answer, outputs: readonly TensorInfo[]): Tensors {
  return withFaults('inference-failed', `The answer of ${answer.url}`, () => {
    const json = parse(answer);
    const isMapping = isRecord(json);
    if (!isMapping && outputs.length > 1)
      throw new Fault(`it is no mapping with ${outputs.map(({ name }) => name).join(', ')}`);
    const rows = outputs.map((output) => {
      const { name } = output;
      if (isMapping && !Object.hasOwn(json, name)) throw new Fault(`it has no output "${name}"`);
      return [name, rowFromJson(isMapping ? json[name] : json, output)] as const;
    });
    return Object.fromEntries(rows);
  });
}

function parse({ body }: Answer): unknown {
  try {
    return parseExact(new TextDecoder().decode(body));
  } catch (cause) {
    throw new Fault('it is not JSON', { cause });
  }
}
