// Hides the packages that the environment variable WITHOUT names, for `node --import`: as where they are not installed.
import { register } from 'node:module';

const hooks = `export async function resolve(name, context, next) {
  if ((process.env.WITHOUT ?? '').split(',').includes(name)) throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  return await next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
