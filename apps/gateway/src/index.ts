export { type RunningGateway, start } from './start.ts';
