/** A service worker that loads a model itself, as an extension's background script may try to. */
import { connect, load, type BaseHandler } from '../../../src/index.ts';

const model = '/public/models/digits/';
const attempts = {
  load: () => load(model),
  connect: () => connect<BaseHandler>(() => new Worker('/none.js'), { model }).initialize(),
};

addEventListener('message', ({ data, ports }: MessageEvent<keyof typeof attempts>) => {
  const port = ports[0]!;
  attempts[data]().then(
    () => port.postMessage(undefined),
    ({ code, message }: { code?: string; message: string }) => port.postMessage({ code, message }),
  );
});
