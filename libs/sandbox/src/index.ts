export { BINARY_SAMPLE_BYTES, isBinaryName, isBinarySample } from './binary-files.ts';
export { commandEnvironment, INHERITED_VARIABLES } from './command-environment.ts';
export { PathLocks } from './path-locks.ts';
export {
  MAX_PATH_CHARACTERS,
  type PathBase,
  type PathResolution,
  refusePathText,
  resolvePath,
} from './resolve-path.ts';
