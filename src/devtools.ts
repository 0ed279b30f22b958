/** A panel for development: what clients, their workers and their requests do. */
export { mountDevtools, TabServeDevtools, type InspectedClient } from './page/devtools/element.js';
