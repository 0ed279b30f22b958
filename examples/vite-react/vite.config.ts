import react from '@vitejs/plugin-react';
import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';

export default defineConfig({ plugins: [react(), tabserve()] });
