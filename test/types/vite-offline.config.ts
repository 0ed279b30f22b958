import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';

export default defineConfig({
  plugins: [
    tabserve({ engines: ['onnx/webgpu', 'onnx/wasm'] }),
    VitePWA({
      manifest: false,
      injectRegister: 'script', // a script of its own, as a strict Content-Security-Policy asks for
      registerType: 'autoUpdate',
      workbox: { globPatterns: ['*.{html,js,json}', 'assets/*.{js,mjs,css,json,png,svg}'] }, // no models, and no .wasm
    }),
  ],
});
