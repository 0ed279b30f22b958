import vue from '@vitejs/plugin-vue';
import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';
import { headers } from './headers.ts';

export default defineConfig({ plugins: [vue(), tabserve()], preview: { headers } });
