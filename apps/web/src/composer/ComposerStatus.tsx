import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNow } from '../hooks/use-now.ts';
import { type Draft, keepDraft } from '../state/drafts.ts';
import type { RunState } from '../state/model.ts';
import { useStore } from '../state/store.ts';
import { ui } from '../state/stores.ts';
import { formatRunning } from '../text/duration.ts';

const SLOW_MS = 400;
const UNCONFIRMED_MS = 6000;

interface Props {
  draftId: string;
  draft: Draft;
  run: RunState | null;
  stopping: boolean;
}

/** One line of constant height under the message: what is being sent, what the run is at, else how to send. */
export function ComposerStatus({ draftId, draft, run, stopping }: Props) {
  const { t } = useTranslation();
  const connected = useStore(ui, (state) => state.status === 'connected');
  const waited = useWaited(draft.outgoing);
  if (draft.outgoing && (waited !== 'short' || !connected)) {
    const unconfirmed = waited === 'long' || !connected;
    return (
      <span className="composer-status" role="status">
        {t(unconfirmed ? 'composer.waiting' : 'composer.sending')}
        {unconfirmed && (
          <button type="button" className="link-button" onClick={() => keepDraft(draftId, { text: draft.text })}>
            {t('composer.edit')}
          </button>
        )}
      </span>
    );
  }
  if (run) return <RunPhase run={run} stopping={stopping} />;
  return <span className="composer-status hint">{t('composer.hint')}</span>;
}

/** How long a request is under way. A quick one is never mentioned, so that nothing flickers. */
function useWaited(outgoing: Draft['outgoing']): 'short' | 'some' | 'long' {
  const [waited, setWaited] = useState<'short' | 'some' | 'long'>('short');
  useEffect(() => {
    setWaited('short');
    if (!outgoing) return;
    const timers = [setTimeout(() => setWaited('some'), SLOW_MS), setTimeout(() => setWaited('long'), UNCONFIRMED_MS)];
    return () => timers.forEach(clearTimeout);
  }, [outgoing]);
  return waited;
}

function RunPhase({ run, stopping }: { run: RunState; stopping: boolean }) {
  const { t } = useTranslation();
  const now = useNow(run.status === 'running');
  const since = Date.parse(run.startedAt ?? run.createdAt);
  return (
    <span className="composer-status phase" data-phase={stopping ? 'run.stopping' : phaseOf(run)}>
      <span className="dot" />
      <span>{t(stopping ? 'run.stopping' : phaseOf(run))}</span>
      {run.status === 'running' && <span className="phase-time">{formatRunning(now - since)}</span>}
      {run.status === 'running' && <span className="phase-hint">{t('composer.hint_steer')}</span>}
    </span>
  );
}

function phaseOf(run: RunState) {
  if (run.status === 'queued') return 'run.queued' as const;
  if (run.items.some((item) => item.kind === 'tool_call' && item.status === 'running')) return 'run.tools' as const;
  const last = run.items.at(-1);
  if (last?.status === 'streaming' && last.role === 'assistant' && last.content !== '') return 'run.writing' as const;
  return run.modelBusy ? ('run.thinking' as const) : ('run.working' as const);
}
