import { defineConfig } from '@playwright/test';

const url = `http://localhost:${process.env.PORT ?? 4173}`;

export default defineConfig({
  testDir: 'tests',
  // In software, a GPU takes seconds where a real one takes milliseconds.
  timeout: 600_000,
  expect: { timeout: 240_000 },
  workers: 1,
  // One project for each backend: the test opens the app with its name, as /?backend=webgl.
  projects: ['wasm', 'webgl', 'webgpu'].map((name) => ({ name })),
  use: {
    baseURL: url,
    permissions: ['camera'],
    launchOptions: {
      // Where there is no GPU, Chromium computes in software. The camera shows a test picture.
      args: [
        '--enable-unsafe-swiftshader',
        '--enable-unsafe-webgpu',
        '--use-webgpu-adapter=swiftshader',
        '--use-fake-device-for-media-stream',
      ],
      // Another Chromium than the one of `npx playwright install chromium`.
      executablePath: process.env.CHROMIUM_PATH,
    },
  },
  webServer: {
    command: `npm run build && npx vite preview --strictPort --port ${new URL(url).port}`,
    url,
    timeout: 240_000,
  },
});
