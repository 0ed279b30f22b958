/** Tests the store that the page names, and answers with what went wrong. */
import { testStore, type StoreName } from './stores.js';

addEventListener('message', ({ data }: MessageEvent<StoreName>) => {
  void testStore(data).then((failures) => postMessage(failures));
});
