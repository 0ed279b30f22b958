/** The Vite plugin, for `vite.config.ts`. */
export { tabserve, type TabServePluginOptions, type VitePlugin } from './tools/vite/vite.js';
