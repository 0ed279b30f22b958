import { BaseHandler, expose } from '../../../src/worker.ts';

// A message that arrives while the module still waits is lost: the page must wait for `ready` before it sends one.
await fetch('./slow-to-load.worker.ts');
await new Promise((resolve) => setTimeout(resolve, 300));

expose(BaseHandler);
