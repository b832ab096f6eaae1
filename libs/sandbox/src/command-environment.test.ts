import { expect, it } from 'vitest';
import { commandEnvironment } from './command-environment.ts';

it('passes the allow-list and nothing else', () => {
  const environment = commandEnvironment({
    PATH: '/bin',
    HOME: '/home/me',
    LC_ALL: 'C.UTF-8',
    ROOKERY_MASTER_KEY: 'secret',
    ROOKERY_HOME: '/home/me/.rookery',
    NATS_URL: 'nats://127.0.0.1',
    FAULT: 'tool:after-effect',
    LD_PRELOAD: '/tmp/x.so',
    NODE_OPTIONS: '--require /tmp/x.js',
    GIT_SSH_COMMAND: 'x',
    path: 'lower case is another variable',
  });
  expect(environment).toEqual({
    PATH: '/bin',
    HOME: '/home/me',
    LC_ALL: 'C.UTF-8',
    PYTHONIOENCODING: 'utf-8',
    PYTHONUTF8: '1',
  });
});

it('sets the Python variables whatever the runner has', () => {
  expect(commandEnvironment({ PYTHONUTF8: '0', PYTHONIOENCODING: 'latin-1' })).toEqual({
    PYTHONIOENCODING: 'utf-8',
    PYTHONUTF8: '1',
  });
});
