import { BaseHandler, expose, PredictionError } from 'tabserve/worker';

/** Returns what a value is: bytes in hexadecimal, a text, or JSON. */
async function formOf(value) {
  if (value instanceof Blob) return { bytes: Buffer.from(await value.arrayBuffer()).toString('hex') };
  return typeof value === 'string' ? { text: value } : { json: value };
}

const isFields = (row) => typeof row === 'object' && row !== null && !(row instanceof Blob) && !Array.isArray(row);

/** Answers with what it was given. `test/goldens/interop/echo.py` is its twin on TorchServe. */
expose(
  class extends BaseHandler {
    async handle(rows, context) {
      return await Promise.all(rows.map((row, index) => this.answer(row, index, rows, context)));
    }

    async answer(row, index, rows, context) {
      switch (row?.order ?? row?.data?.order) {
        case 'text':
          return 'plain text: ä';
        case 'bytes':
          return new Uint8Array([0, 1, 255]);
        case 'number':
          return 1.5;
        case 'list':
          return [1, 'two', null, true, { b: 1, a: 2 }];
        case 'null':
          return null;
        case 'batch':
          return { size: rows.length };
        case 'exception':
          throw new TypeError("the handler's own bug");
        case 'prediction-exception':
          return new PredictionError('handler-failed', 'no such thing');
        case 'status':
          context.respond(index, { status: 418 });
          return { short: true };
        case 'headers':
          context.respond(index, { headers: { 'X-Own': 'of the handler', 'Content-Type': 'text/csv' } });
          return 'a,b\n1,2\n';
        case 'request': {
          const { headers, path } = context.request(index);
          const [asked, id] = ['x-asked', 'x-request-id'].map((name) => headers.get(name));
          return { 'x-asked': asked, 'x-request-id': id, url_path: path };
        }
        case 'stream':
          for (const part of ['one ', 'two ']) await context.send(index, part);
          return 'three';
        case 'stream-json':
          for (const part of [{ part: 1 }, [2, 3]]) await context.send(index, part);
          return { last: true };
        case 'stream-exception':
          await context.send(index, 'one ');
          throw new TypeError("the handler's own bug");
      }
      // TorchServe names a body that is no form "body".
      const fields = isFields(row) && !('json' in row) ? row : { body: row };
      return Object.fromEntries(
        await Promise.all(Object.entries(fields).map(async ([name, value]) => [name, await formOf(value)])),
      );
    }
  },
);
