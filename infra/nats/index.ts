export { cachedBinary, natsCacheFolder } from './cache.ts';
export { type ConfigurationOptions, natsConfiguration, natsUsers } from './configuration.ts';
export { edgeKeysOf, ensureKeys, readSeed, seedPath } from './keys.ts';
export { formatListen, type Listen, parseListen, settlePort } from './listen.ts';
export { type FoundServer, type Location, locateServer } from './locate.ts';
export { obtainServer } from './obtain.ts';
export {
  type LaunchedServer,
  launchServer,
  type RunningServer,
  readServerInfo,
  type ServerOptions,
  startServer,
} from './server.ts';
export { formatVersion, isSupported, parseVersion } from './version.ts';
