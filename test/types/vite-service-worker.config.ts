import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [tabserve()],
  build: {
    rollupOptions: {
      input: { main: 'index.html', sw: 'sw.ts' },
      output: { entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
    },
  },
});
