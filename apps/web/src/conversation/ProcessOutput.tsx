import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { request } from '../actions/rpc.ts';
import { showError } from '../actions/toasts.ts';
import { plainTerminalText } from '../text/ansi.ts';
import { type LoadedOutput, processView } from '../text/process-view.ts';
import type { ToolResultView } from '../text/tool-call.ts';
import type { ProcessRecord } from '../wire/types.ts';

interface Props {
  threadId: string;
  processId: string;
  record: ProcessRecord | null;
  outcome: ToolResultView | null;
}

/** What a command printed, as text without escape sequences; a command outlives its run, so it can be read and stopped here. */
export function ProcessOutput({ threadId, processId, record, outcome }: Props) {
  const { t } = useTranslation();
  const [loaded, setLoaded] = useState<LoadedOutput | null>(null);
  const [busy, setBusy] = useState(false);
  const { state, text, exitCode: code, errorCode } = processView(loaded, record, outcome);

  const act = async (method: 'process.read' | 'process.stop') => {
    setBusy(true);
    try {
      if (method === 'process.stop') await request('process.stop', { threadId, processId });
      let page = await request('process.read', { threadId, processId, cursor: 0 });
      let output = page.output;
      while (page.hasMore && page.nextCursor > page.cursor) {
        page = await request('process.read', { threadId, processId, cursor: page.nextCursor });
        output += page.output;
      }
      setLoaded({ text: output, page, record });
    } catch (error) {
      showError(error);
    }
    setBusy(false);
  };

  return (
    <>
      <h4>
        {t('tool.output')}
        <span className="process-state">
          {t(stateKey(state))}
          {code !== null && ` · ${t('tool.exit', { code })}`}
        </span>
      </h4>
      {errorCode && errorCode !== 'start_pending' && <code className="tool-error">{errorCode}</code>}
      <pre className="tool-output">{plainTerminalText(text) || t('tool.no_output')}</pre>
      <div className="process-actions">
        <button type="button" className="link-button" disabled={busy} onClick={() => void act('process.read')}>
          {t('tool.more_output')}
        </button>
        {state === 'running' && (
          <button type="button" className="link-button danger" disabled={busy} onClick={() => void act('process.stop')}>
            {t('tool.stop_process')}
          </button>
        )}
      </div>
    </>
  );
}

function stateKey(state: string) {
  if (state === 'running' || state === 'exited' || state === 'terminated') return `tool.process_${state}` as const;
  return 'tool.process_unknown' as const;
}
