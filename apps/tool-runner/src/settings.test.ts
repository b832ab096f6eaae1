import { AppError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { readSettings } from './settings.ts';

function codeOf(env: Record<string, string>): string {
  try {
    readSettings({ HOME: '/home/me', ...env });
    return 'ok';
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

it('has defaults and takes what is set', () => {
  expect(readSettings({ HOME: '/home/me' })).toEqual({
    runnerId: 'main',
    workspacesRoot: '/home/me/Documents/Rookery',
    userHome: '/home/me',
  });
  const env = { HOME: '/home/me', ROOKERY_RUNNER: 'laptop_2', ROOKERY_WORKSPACES_ROOT: '~/work' };
  expect(readSettings(env)).toMatchObject({ runnerId: 'laptop_2', workspacesRoot: '/home/me/work' });
});

it('refuses names that are no part of a subject, and a relative root', () => {
  for (const name of ['any', 'a.b', 'a*', '>', 'a b', 'x'.repeat(201)]) {
    expect(codeOf({ ROOKERY_RUNNER: name })).toBe('CONFIG_INVALID');
  }
  expect(codeOf({ ROOKERY_RUNNER: 'x'.repeat(200) })).toBe('ok');
  expect(codeOf({ ROOKERY_WORKSPACES_ROOT: 'work' })).toBe('CONFIG_INVALID');
});
