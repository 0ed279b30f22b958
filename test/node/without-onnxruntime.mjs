// Hides onnxruntime-node, for `node --import`: as where it is not installed.
import { register } from 'node:module';

const hooks = `export async function resolve(name, context, next) {
  if (name === 'onnxruntime-node') throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  return await next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
