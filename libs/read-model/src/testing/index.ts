export { Applier } from '../applier.ts';
export { MemoryFile, type MemoryReadModel, openMemoryReadModel } from './memory-read-model.ts';
