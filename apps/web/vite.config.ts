import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

const gateway = `http://${process.env.ROOKERY_HTTP ?? '127.0.0.1:7420'}`;

/** The gateway refuses foreign origins, so the development proxy speaks under the gateway's own. */
const toGateway = (ws: boolean): ProxyOptions => ({
  target: gateway,
  changeOrigin: true,
  ws,
  rewriteWsOrigin: true,
  headers: { origin: gateway },
});

export default defineConfig(({ command }) => {
  // A build is for use, also where tests start it: with another NODE_ENV it would hold the development build of React.
  if (command === 'build') process.env.NODE_ENV = 'production';
  return {
    plugins: [react()],
    build: {
      target: 'es2022',
      // A font or an image inlined as data: URL would need a wider content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        // The page takes the error table and limits from the protocol; its schemas would bring zod along.
        treeshake: { moduleSideEffects: (id) => !/[\\/]protocol[\\/]src[\\/]/.test(id) },
      },
    },
    server: { host: '127.0.0.1', proxy: { '/rpc': toGateway(true), '/auth': toGateway(false) } },
  };
});
