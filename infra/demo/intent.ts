/** What a person plainly asked the demonstration to do. */
export type Intent =
  | { kind: 'list'; path: string }
  | { kind: 'read'; filePath: string }
  | { kind: 'write'; filePath: string; content: string }
  | { kind: 'run'; command: string; background: boolean }
  | { kind: 'help' };

export type Language = 'en' | 'zh';

/** Longer texts are no plain sentence, and would make the patterns slow. */
const maxAskedChars = 4000;

const polite = String.raw`(?:please\s+|could you\s+|can you\s+|请|请你|帮我|麻烦)*`;
const end = String.raw`\s*[.!?。！？]*$`;

const patterns: [RegExp, (groups: string[]) => Intent][] = [
  [
    new RegExp(`^${polite}run\\s+in\\s+(?:the\\s+)?background\\s*[:：]\\s*([\\s\\S]+)$`, 'i'),
    ([command = '']) => ({ kind: 'run', command: unquote(command), background: true }),
  ],
  [
    new RegExp(`^${polite}(?:在)?后台(?:运行|执行)\\s*[:：]\\s*([\\s\\S]+)$`),
    ([command = '']) => ({ kind: 'run', command: unquote(command), background: true }),
  ],
  [
    new RegExp(`^${polite}(?:run|运行|执行)\\s*[:：]\\s*([\\s\\S]+)$`, 'i'),
    ([command = '']) => ({ kind: 'run', command: unquote(command), background: false }),
  ],
  [
    new RegExp(
      `^${polite}(?:list|show)(?:\\s+me)?\\s+(?:the\\s+|all\\s+|my\\s+)*files(?:\\s+(?:in|of)\\s+(.+?))?${end}`,
      'i',
    ),
    ([path]) => ({ kind: 'list', path: listPath(path) }),
  ],
  [
    new RegExp(`^${polite}(?:列出|列一下|显示)(?:(.+?)(?:里|中|下)?的?)?(?:所有|全部)?的?文件${end}`),
    ([path]) => ({ kind: 'list', path: listPath(path) }),
  ],
  [
    new RegExp(`^${polite}read\\s+(?:the\\s+)?(?:file\\s+)?(\\S.*?)${end}`, 'i'),
    ([filePath = '']) => ({ kind: 'read', filePath: unquote(filePath) }),
  ],
  [
    new RegExp(`^${polite}(?:读取|读一下|读)\\s*(?:文件)?\\s*(\\S.*?)${end}`),
    ([filePath = '']) => ({ kind: 'read', filePath: unquote(filePath) }),
  ],
  [
    // The last "to" is the one before the file, so that the content may hold the word.
    new RegExp(`^${polite}write\\s+([\\s\\S]+)\\s+to\\s+(?:the\\s+)?(?:file\\s+)?(\\S+?)${end}`, 'i'),
    ([content = '', filePath = '']) => ({ kind: 'write', filePath: unquote(filePath), content: unquote(content) }),
  ],
  [
    new RegExp(`^${polite}[把将]\\s*([\\s\\S]+?)\\s*写入\\s*(?:到)?\\s*(?:文件)?\\s*(\\S+?)${end}`),
    ([content = '', filePath = '']) => ({ kind: 'write', filePath: unquote(filePath), content: unquote(content) }),
  ],
];

/** Understands the few plain sentences of the demonstration; everything else is a request for help. */
export function readIntent(text: string): Intent {
  const asked = text.trim();
  if (asked.length > maxAskedChars) return { kind: 'help' };
  for (const [pattern, make] of patterns) {
    const match = pattern.exec(asked);
    if (match) return make(match.slice(1));
  }
  return { kind: 'help' };
}

/** Language in which a text is answered. */
export function languageOf(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
}

function listPath(path: string | undefined): string {
  const plain = unquote(path ?? '');
  const here = /^(|here|this folder|the workspace|(当前|这个)?(目录|文件夹|工作区)|这里|所有|全部)$/i.test(plain);
  return here ? '.' : plain;
}

/** Takes the quotes off that a person put around a name or a text. */
function unquote(text: string): string {
  const plain = text.trim();
  const match = /^(?:`([\s\S]*)`|"([\s\S]*)"|'([\s\S]*)'|“([\s\S]*)”|「([\s\S]*)」)$/.exec(plain);
  return match?.slice(1).find((inner) => inner !== undefined) ?? plain;
}
