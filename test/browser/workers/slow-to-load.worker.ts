import { BaseHandler, expose } from '../../../src/worker.ts';

// A message that arrives while the module still waits is lost: the page must not send one before it is told to.
await fetch('./slow-to-load.worker.ts');
await new Promise((resolve) => setTimeout(resolve, 300));

expose(BaseHandler);
