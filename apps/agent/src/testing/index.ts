export type { AgentDeps } from '../deps.ts';
export { startInstance } from '../instance.ts';
export type { Models } from '../models/models.ts';
export { createTools } from '../tools.ts';
