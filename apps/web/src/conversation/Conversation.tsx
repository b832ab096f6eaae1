import { useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { loadConversation } from '../actions/threads.ts';
import { useStickToBottom } from '../hooks/use-stick-to-bottom.ts';
import { sentenceOfCode } from '../i18n/error-sentence.ts';
import { useStore } from '../state/store.ts';
import { journal, ui } from '../state/stores.ts';
import { Icon } from '../ui/Icon.tsx';
import { TurnBlock } from './TurnBlock.tsx';

/** The turns of a thread in a scroller that follows what is written. */
export function Conversation({ threadId }: { threadId: string }) {
  const { t } = useTranslation();
  const conversation = useStore(journal, (state) => state.conversations[threadId]);
  const errorCode = useStore(ui, (state) => state.loadErrors[threadId]);
  const stick = useStickToBottom(conversation ? threadId : '');
  const earlier = useKeepPlace(stick.scroller, conversation?.turns[0]?.id);
  const turns = conversation?.turns ?? [];
  return (
    <div className="conversation">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by keyboard */}
      <section ref={stick.scroller} className="scroller" tabIndex={0} aria-label={t('thread.conversation')}>
        <div ref={stick.content} className="turns">
          {conversation?.hasMore && (
            <button
              type="button"
              className="link-button earlier"
              onClick={() => {
                earlier();
                void loadConversation(threadId, true);
              }}
            >
              {t('thread.earlier')}
            </button>
          )}
          {turns.map((turn) => (
            <TurnBlock key={turn.id} turn={turn} threadId={threadId} />
          ))}
          {conversation && turns.length === 0 && <p className="muted conversation-note">{t('empty.thread')}</p>}
          {!conversation && !errorCode && <p className="muted conversation-note">{t('loading')}</p>}
          {errorCode && (
            <div className="conversation-note" role="alert">
              <p>{t('thread.not_loaded')}</p>
              <p className="muted">
                {sentenceOfCode(errorCode)} <code>{errorCode}</code>
              </p>
              <button type="button" className="button" onClick={() => void loadConversation(threadId)}>
                {t('retry')}
              </button>
            </div>
          )}
        </div>
      </section>
      <button
        type="button"
        className={stick.stuck ? 'jump hidden' : 'jump'}
        aria-label={t('run.jump')}
        title={t('run.jump')}
        tabIndex={stick.stuck ? -1 : 0}
        aria-hidden={stick.stuck}
        onClick={stick.jump}
      >
        <Icon name="down" />
      </button>
    </div>
  );
}

/** Keeps what is read in place when earlier turns are put above it. Call the result before asking for them. */
function useKeepPlace(scroller: { current: HTMLElement | null }, firstTurn: string | undefined): () => void {
  const before = useRef<number | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another turn has become the first
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box && before.current !== null) box.scrollTop += box.scrollHeight - before.current;
    before.current = null;
  }, [firstTurn]);
  return () => {
    before.current = scroller.current?.scrollHeight ?? null;
  };
}
