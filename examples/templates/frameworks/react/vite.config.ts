import react from '@vitejs/plugin-react';
import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';
import { headers } from './headers.ts';

export default defineConfig({ plugins: [react(), tabserve()], preview: { headers } });
