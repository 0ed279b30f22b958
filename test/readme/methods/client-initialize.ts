import { connect } from 'tabserve';

const languages = connect({ model: '/models/languages/', handler: 'text_classifier' });
const leaving = new AbortController();
addEventListener('pagehide', () => leaving.abort());
await languages.initialize({
  signal: leaving.signal,
  onProgress: ({ overall }) => console.log(`${overall.loaded} of ${overall.total} bytes`),
});
await languages.initialize(); // returns at once
