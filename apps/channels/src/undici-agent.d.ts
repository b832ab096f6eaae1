// The package's main entry loads fetch, WebSocket and mocks (8 MiB more); only the connection pools are needed here.
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
