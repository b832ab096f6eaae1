import { type KeyboardEvent, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { newRequestId, sendOutgoing } from '../actions/outgoing.ts';
import { stopRun, useStopping } from '../actions/stop-run.ts';
import { showToast } from '../actions/toasts.ts';
import { type Draft, draftOf, drafts, keepDraft, NEW_THREAD, type Outgoing } from '../state/drafts.ts';
import { openingOf, type RunState } from '../state/model.ts';
import { useStore } from '../state/store.ts';
import { ui } from '../state/stores.ts';
import { Icon } from '../ui/Icon.tsx';
import type { Model, Thread } from '../wire/types.ts';
import { ComposerStatus } from './ComposerStatus.tsx';
import { COMPOSER_ID } from './composer-id.ts';

interface Props {
  selected: string | null;
  thread: Thread | null;
  model: Model | null;
  run: RunState | null;
}

const MAX_BYTES = 256 * 1024;

/** Where a message is written. Its text is on disk with every key, and stays until the server has taken it. */
export function Composer({ selected, thread, model, run }: Props) {
  const { t } = useTranslation();
  const draftId = selected ?? NEW_THREAD;
  const draft = useStore(drafts, (state) => draftOf(state, draftId));
  const dialog = useStore(ui, (state) => state.dialog);
  const loaded = useStore(ui, (state) => state.loaded);
  const field = useRef<HTMLTextAreaElement>(null);
  const steering = run?.status === 'running';
  const stopping = useStopping(run?.id ?? null);
  const ready = draft.text.trim() !== '' && !draft.outgoing && (steering || (model !== null && (thread || !selected)));

  useEffect(() => {
    // On a touch screen the focus would open the keyboard over the conversation.
    if (matchMedia('(hover: hover)').matches) field.current?.focus();
  }, []);

  useEffect(() => {
    if (!run || dialog) return;
    const onKey = (event: globalThis.KeyboardEvent) => {
      // Who cleared the filter, closed the drawer or a dialog with this key, or holds it down after that, stops nothing.
      if (event.key !== 'Escape' || event.defaultPrevented || event.repeat || event.isComposing) return;
      if (!ui.get().drawer) void stopRun(run.id);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [run, dialog]);

  const send = () => {
    if (!ready) {
      if (draft.text.trim() !== '' && !model)
        showToast({ text: t(loaded ? 'model.none' : 'status.connecting'), tone: 'plain' });
      return;
    }
    if (new TextEncoder().encode(draft.text).length > MAX_BYTES) {
      showToast({ text: t('composer.too_long'), tone: 'error' });
      return;
    }
    const outgoing = outgoingOf(draft, thread, steering ? run : null, model);
    if (outgoing) void sendOutgoing(draftId, outgoing);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // keyCode 229: Safari ends a composition before the key that ended it arrives.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key !== 'Enter' || event.shiftKey || event.altKey) return;
    event.preventDefault();
    send();
  };

  return (
    <div className="composer">
      <div className={steering ? 'composer-box steering' : 'composer-box'}>
        <textarea
          id={COMPOSER_ID}
          ref={field}
          rows={1}
          aria-label={t('composer.label')}
          placeholder={t(steering ? 'composer.placeholder_steer' : 'composer.placeholder')}
          value={draft.text}
          readOnly={draft.outgoing !== undefined}
          onChange={(event) => keepDraft(draftId, { text: event.target.value })}
          onKeyDown={onKeyDown}
        />
        <div className="composer-bar">
          <ComposerStatus draftId={draftId} draft={draft} run={run} stopping={stopping} />
          {run && (
            <button type="button" className="button stop" disabled={stopping} onClick={() => void stopRun(run.id)}>
              <Icon name="stop" size={16} />
              {t('composer.stop')}
            </button>
          )}
          <button
            type="button"
            className="button primary send"
            aria-label={t(steering ? 'composer.steer' : 'composer.send')}
            title={t(steering ? 'composer.steer' : 'composer.send')}
            disabled={!ready}
            onClick={send}
          >
            <Icon name={steering ? 'steer' : 'send'} />
          </button>
        </div>
      </div>
    </div>
  );
}

function outgoingOf(draft: Draft, thread: Thread | null, run: RunState | null, model: Model | null): Outgoing | null {
  const content = draft.text;
  const modelRef = model ? { providerId: model.providerId, modelId: model.id } : run;
  if (!modelRef) return null;
  const { providerId, modelId } = modelRef;
  const turn = { content, providerId, modelId, clientRequestId: newRequestId() };
  if (thread) {
    const params = { ...turn, threadId: thread.id, branchId: thread.defaultBranchId };
    if (run) return { kind: 'steer', runId: run.id, clientRequestId: newRequestId(), otherwise: params };
    return { kind: 'turn', params };
  }
  return { kind: 'first', threadRequestId: newRequestId(), title: openingOf(content), turn };
}
