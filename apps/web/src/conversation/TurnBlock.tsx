import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunState, TurnState } from '../state/model.ts';
import type { Item } from '../wire/types.ts';
import { AssistantMessage } from './AssistantMessage.tsx';
import { RunOutcome } from './RunOutcome.tsx';
import { ToolCard } from './ToolCard.tsx';
import { UserMessage } from './UserMessage.tsx';

/** One turn: what the person asked, and what its run did. Rendered again only when it changes. */
export const TurnBlock = memo(function TurnBlock({ turn, threadId }: { turn: TurnState; threadId: string }) {
  return (
    <article className="turn" data-turn={turn.ordinal}>
      {turn.runs.map((run) => (
        <RunBlock key={run.id} run={run} threadId={threadId} />
      ))}
    </article>
  );
});

function RunBlock({ run, threadId }: { run: RunState; threadId: string }) {
  const { t } = useTranslation();
  const results = new Map<unknown, Item>();
  for (const item of run.items) if (item.kind === 'tool_result') results.set(item.data.toolCallItemId, item);
  return (
    <>
      {run.items.map((item) => {
        if (item.kind === 'tool_result') return null;
        if (item.kind === 'tool_call') {
          return (
            <ToolCard
              key={item.id}
              call={item}
              result={results.get(item.id) ?? null}
              process={run.processes[item.id] ?? null}
              change={run.fileChanges[item.id] ?? null}
              threadId={threadId}
            />
          );
        }
        return item.role === 'user' ? (
          <UserMessage key={item.id} item={item} />
        ) : (
          <AssistantMessage key={item.id} item={item} />
        );
      })}
      {run.compactions > 0 && <p className="run-note">{t('run.compacted')}</p>}
      <RunOutcome run={run} />
    </>
  );
}
