import { connect } from 'tabserve';

const languages = connect({ model: '/models/languages/', handler: 'text_classifier' });
const remove = languages.on('backendchange', ({ engine, name }) => console.log(`${engine}/${name}`)); // onnx/wasm
await languages.initialize();
remove();
