import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type ProxyOptions } from 'vite';
import { en } from './src/i18n/en.ts';
import { zhCn } from './src/i18n/zh-cn.ts';

const gateway = `http://${process.env.ROOKERY_HTTP ?? '127.0.0.1:7420'}`;

/** The gateway refuses foreign origins, so the development proxy speaks under the gateway's own. */
const toGateway = (ws: boolean): ProxyOptions => ({
  target: gateway,
  changeOrigin: true,
  ws,
  rewriteWsOrigin: true,
  headers: { origin: gateway },
});

/** Without JavaScript nothing knows the language, so the page says it in both, from the same texts. */
const noscript: Plugin = {
  name: 'noscript',
  transformIndexHtml: (html) => html.replace('%noscript%', `${en.noscript} ${zhCn.noscript}`),
};

export default defineConfig(({ command }) => {
  // A build is for use, also where tests start it: with another NODE_ENV it would hold the development build of React.
  if (command === 'build') process.env.NODE_ENV = 'production';
  return {
    plugins: [react(), noscript],
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
