export { BaseHandler as ImageClassifier } from './base-handler.js';
