export { toolDefinitions } from './definitions.ts';
export { start } from './start.ts';
