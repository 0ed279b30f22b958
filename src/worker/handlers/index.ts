/** The handlers that a task may extend, and that of workflows without a class of their own. */
export * from './base-handler.js';
export * from './vision-handler.js';
export * from './detection-handler.js';
export * from './text-handler.js';
export * from './audio-handler.js';
export * from './function-handler.js';
export * from './graph-workflow.js';
export * from './step-loop.js';
