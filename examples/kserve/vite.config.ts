import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [tabserve()],
  // KServe, for what the service worker sends on.
  server: { proxy: { '/v1': 'http://127.0.0.1:8081' } },
  build: {
    rollupOptions: {
      input: { main: 'index.html', sw: 'sw.ts' },
      // A service worker controls the pages below its own URL.
      output: { entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
    },
  },
});
