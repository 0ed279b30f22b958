import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
const { modelName, handler, backend, workers } = await languages.describe();
console.log(modelName, handler, backend.name, workers); // languages text_classifier wasm 1
