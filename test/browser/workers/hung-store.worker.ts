import { BaseHandler, expose } from '../../../src/worker.ts';

/** A worker whose browser never finishes to write a file. */
Cache.prototype.put = () => new Promise(() => {});
expose(BaseHandler);
