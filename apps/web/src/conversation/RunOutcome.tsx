import { useTranslation } from 'react-i18next';
import type { en } from '../i18n/en.ts';
import type { RunState } from '../state/model.ts';
import { formatDuration, spanMs } from '../text/duration.ts';
import { Icon } from '../ui/Icon.tsx';

/** How a run ended: quiet where it completed, in plain words and with its code where it did not. */
export function RunOutcome({ run }: { run: RunState }) {
  const { t, i18n } = useTranslation();
  if (run.status === 'running' || run.status === 'queued') return null;
  const span = spanMs(run.startedAt ?? run.createdAt, run.settledAt);
  const facts = [
    span === null ? null : formatDuration(span),
    run.modelId,
    run.modelCalls > 1 ? t('run.calls', { count: run.modelCalls }) : null,
    run.usage?.totalTokens ? t('run.tokens', { count: run.usage.totalTokens }) : null,
  ].filter(Boolean);
  if (run.status === 'completed') {
    return (
      <footer className="outcome" data-outcome="completed">
        <Icon name="check" size={14} />
        <span className="visually-hidden">{t('run.completed')}</span>
        {facts.join(' · ')}
      </footer>
    );
  }
  const key = `reason.${run.reasonCode ?? 'other'}`;
  const known = i18n.exists(key) ? (key as keyof typeof en) : 'reason.other';
  return (
    <footer className={`outcome outcome-card outcome-${run.status}`} data-outcome={run.status}>
      <Icon name={run.status === 'failed' ? 'alert' : 'stop'} size={18} />
      <div>
        <strong>{t(`run.${run.status}`)}</strong> {t(known)}
        <div className="outcome-facts">
          {run.reasonCode && <code>{run.reasonCode}</code>} {facts.join(' · ')}
        </div>
      </div>
    </footer>
  );
}
