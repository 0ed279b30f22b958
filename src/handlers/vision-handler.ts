export { BaseHandler as VisionHandler } from './base-handler.js';
