import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The server that `npm run dev` shows: the address of a running posture or desktop server.
const server = process.env.VIGIL_SERVER ?? 'http://127.0.0.1:8080';
const proxied = [
  '/v1',
  '/v2',
  '/rest',
  '/scripts',
  '/docs',
  '/console/session',
  '/console/config',
  '/console/pulse',
  '/console/sso',
  '/console/device-logins',
  '/console/open',
];

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { port: 5173, proxy: Object.fromEntries(proxied.map((path) => [path, { target: server, secure: false }])) },
  test: { include: ['{src,e2e}/**/*.test.{ts,tsx}'] },
} as Parameters<typeof defineConfig>[0]);
