import { describe, expect, it } from 'vitest';
import { type Intent, languageOf, readIntent } from './intent.ts';

const list = (path = '.'): Intent => ({ kind: 'list', path });
const read = (filePath: string): Intent => ({ kind: 'read', filePath });
const write = (content: string, filePath: string): Intent => ({ kind: 'write', filePath, content });
const run = (command: string, background = false): Intent => ({ kind: 'run', command, background });
const help: Intent = { kind: 'help' };

describe('readIntent', () => {
  it.each<[string, Intent]>([
    ['list the files', list()],
    ['List files.', list()],
    ['please list the files in this folder', list()],
    ['show me all files in src', list('src')],
    ['read notes.txt', read('notes.txt')],
    ['Read the file "my notes.txt".', read('my notes.txt')],
    ['run: uname -a', run('uname -a')],
    ['Run: `ls -l | head`', run('ls -l | head')],
    ['run in background: sleep 30', run('sleep 30', true)],
    ['run in the background: sleep 30', run('sleep 30', true)],
    ['write x to y', write('x', 'y')],
    ['write "hello to you" to notes/a.txt', write('hello to you', 'notes/a.txt')],
    ['write one\ntwo to a.txt', write('one\ntwo', 'a.txt')],
    ['列出文件', list()],
    ['请列出所有文件。', list()],
    ['列出当前目录下的文件', list()],
    ['列出 src 里的文件', list('src')],
    ['读取 notes.txt', read('notes.txt')],
    ['读取文件“笔记.txt”。', read('笔记.txt')],
    ['运行: uname -a', run('uname -a')],
    ['运行：uname -a', run('uname -a')],
    ['后台运行: sleep 30', run('sleep 30', true)],
    ['在后台运行：sleep 30', run('sleep 30', true)],
    ['把 x 写入 y', write('x', 'y')],
    ['请将“你好”写入 notes.txt。', write('你好', 'notes.txt')],
    ['hello', help],
    ['', help],
    ['run the tests', help],
    ['the log says run: rm -rf /', help],
    ['What files should I read?', help],
    ['你好', help],
    [`write ${'x '.repeat(2000)} to y`, help],
  ])('%j', (text, intent) => {
    expect(readIntent(text)).toEqual(intent);
  });

  it('answers in the language of the question', () => {
    expect([languageOf('read notes.txt'), languageOf('读取 notes.txt')]).toEqual(['en', 'zh']);
  });
});
