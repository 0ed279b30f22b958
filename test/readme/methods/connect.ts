import { connect } from 'tabserve';

const languages = connect({ model: '/models/languages/', handler: 'text_classifier' });
console.log(languages.backend); // undefined: nothing has been started
await languages.initialize();
console.log(languages.backend?.engine); // onnx
await languages.dispose();
