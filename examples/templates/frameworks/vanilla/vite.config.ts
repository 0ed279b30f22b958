import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';
import { headers } from './headers.ts';

export default defineConfig({ plugins: [tabserve()], preview: { headers } });
