import { BaseHandler, expose } from '../../../src/worker.ts';

// As a browser without JSPI, and no other way, differs.
delete (WebAssembly as { Suspending?: unknown }).Suspending;

expose(BaseHandler);
