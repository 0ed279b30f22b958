import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';

export default defineConfig({ plugins: [tabserve()] });
