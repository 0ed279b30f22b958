import { svelte } from '@sveltejs/vite-plugin-svelte';
import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';
import { headers } from './headers.ts';

export default defineConfig({ plugins: [svelte(), tabserve()], preview: { headers } });
