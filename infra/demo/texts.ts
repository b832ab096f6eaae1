import type { Language } from './intent.ts';

interface Texts {
  help: string;
  missingTool: (tool: string) => string;
  failed: (tool: string, code: string | undefined) => string;
  listed: (path: string) => string;
  read: (filePath: string) => string;
  wrote: (filePath: string) => string;
  ran: (command: string, exitCode: number | undefined) => string;
  running: (command: string) => string;
  background: (command: string, processId: string | undefined) => string;
  noOutput: string;
  cut: (lines: number) => string;
  honest: string;
}

export const texts: Record<Language, Texts> = {
  en: {
    help: [
      'I am a scripted demonstration, not a language model: I understand a few plain sentences and nothing else.',
      '',
      'Try one of these. The tools that I call are real:',
      '',
      '- `list the files`',
      '- `read notes.txt`',
      '- `write hello to notes.txt`',
      '- `run: uname -a`',
      '- `run in background: sleep 30`',
      '',
      'To talk with a real model, open Settings → Providers and add one: DeepSeek with a key, or the base URL of any',
      'OpenAI-compatible server (for example `http://127.0.0.1:11434/v1` for Ollama).',
    ].join('\n'),
    missingTool: (tool) => `I would call the tool \`${tool}\` for that, but it is not available in this run.`,
    failed: (tool, code) => `The tool \`${tool}\` failed${code ? ` (\`${code}\`)` : ''}.`,
    listed: (path) => `This is what \`list\` found in \`${path}\`:`,
    read: (filePath) => `This is what \`read\` returned for \`${filePath}\`:`,
    wrote: (filePath) => `\`write\` has written \`${filePath}\`. It reported:`,
    ran: (command, exitCode) =>
      `\`${command}\` has ended${exitCode === undefined ? '' : ` with exit code ${exitCode}`}. Its output:`,
    running: (command) => `\`${command}\` is still running. Its output so far:`,
    background: (command, processId) =>
      `\`${command}\` was started in the background${processId ? ` as \`${processId}\`` : ''}.`,
    noOutput: 'There was no output.',
    cut: (lines) => `… and ${lines} more ${lines === 1 ? 'line' : 'lines'}.`,
    honest: '(Scripted demonstration, not a language model. A real one is set up under Settings → Providers.)',
  },
  zh: {
    help: [
      '我是一个脚本演示，不是语言模型：我只认识几句固定的话。',
      '',
      '可以试试下面这些，我调用的工具都是真实的：',
      '',
      '- `列出文件`',
      '- `读取 notes.txt`',
      '- `把 你好 写入 notes.txt`',
      '- `运行: uname -a`',
      '- `后台运行: sleep 30`',
      '',
      '要使用真正的模型，请打开 设置 → 模型服务商 添加一个：填写 DeepSeek 的密钥，或任意 OpenAI 兼容服务的地址',
      '（例如 Ollama 的 `http://127.0.0.1:11434/v1`）。',
    ].join('\n'),
    missingTool: (tool) => `这需要调用工具 \`${tool}\`，但本次运行没有提供它。`,
    failed: (tool, code) => `工具 \`${tool}\` 执行失败${code ? `（\`${code}\`）` : ''}。`,
    listed: (path) => `\`list\` 在 \`${path}\` 中找到：`,
    read: (filePath) => `\`read\` 读取 \`${filePath}\` 的结果：`,
    wrote: (filePath) => `\`write\` 已写入 \`${filePath}\`，结果：`,
    ran: (command, exitCode) => `\`${command}\` 已结束${exitCode === undefined ? '' : `，退出码 ${exitCode}`}。输出：`,
    running: (command) => `\`${command}\` 仍在运行，目前的输出：`,
    background: (command, processId) => `\`${command}\` 已在后台启动${processId ? `，编号 \`${processId}\`` : ''}。`,
    noOutput: '没有输出。',
    cut: (lines) => `……另有 ${lines} 行。`,
    honest: '（这是脚本演示，不是语言模型。可在 设置 → 模型服务商 中配置真正的模型。）',
  },
};
