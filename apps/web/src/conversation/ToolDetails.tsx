import { useTranslation } from 'react-i18next';
import { plainTerminalText } from '../text/ansi.ts';
import type { ToolCall, ToolResultView } from '../text/tool-call.ts';
import type { FileChange, ProcessRecord } from '../wire/types.ts';
import { DiffView } from './DiffView.tsx';
import { ProcessOutput } from './ProcessOutput.tsx';
import { Reasoning } from './Reasoning.tsx';

interface Props {
  tool: ToolCall;
  reasoning: unknown;
  outcome: ToolResultView | null;
  process: ProcessRecord | null;
  change: FileChange | null;
  threadId: string;
}

/** Arguments, change and result of a tool call, all of it as plain text. */
export function ToolDetails({ tool, reasoning, outcome, process, change, threadId }: Props) {
  const { t } = useTranslation();
  const processId = process?.processId ?? outcome?.processId ?? null;
  return (
    <>
      {typeof reasoning === 'string' && <Reasoning text={reasoning} />}
      <h4>{t('tool.arguments')}</h4>
      <dl className="arguments">
        {Object.entries(tool.arguments).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <pre>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
            </dd>
          </div>
        ))}
      </dl>
      {change?.diff && (
        <>
          <h4>{t('tool.changes')}</h4>
          <DiffView diff={change.diff} />
        </>
      )}
      {processId ? (
        <ProcessOutput threadId={threadId} processId={processId} record={process} outcome={outcome} />
      ) : (
        outcome && (
          <>
            <h4>{t('tool.result')}</h4>
            {outcome.errorCode && <code className="tool-error">{outcome.errorCode}</code>}
            <pre className="tool-output">{plainTerminalText(outcome.output) || t('tool.no_output')}</pre>
          </>
        )
      )}
      {outcome?.truncated && <p className="muted">{t('tool.truncated')}</p>}
    </>
  );
}
