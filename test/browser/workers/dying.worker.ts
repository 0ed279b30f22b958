import { BaseHandler, expose } from '../../../src/worker.ts';

/** Ends this many milliseconds after the page's first message, or in `initialize`. */
const when = new URLSearchParams(location.search).get('when')!;

class Dying extends BaseHandler {
  override async initialize(): Promise<void> {
    if (when !== 'initialize') return;
    close();
    await new Promise(() => {});
  }
}

if (when !== 'initialize')
  addEventListener('message', () => (when === 'at once' ? close() : setTimeout(() => close(), Number(when))), {
    once: true,
  });
expose(Dying);
