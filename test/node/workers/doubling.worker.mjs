import { BaseHandler, expose } from 'tabserve/worker';

/** Doubles numbers without its model. `process.exit` ends its thread, as a crash would. */
expose(
  class extends BaseHandler {
    async handle(rows) {
      if (rows.includes('exit')) process.exit(3);
      return rows.map((row) => row * 2);
    }
  },
);
