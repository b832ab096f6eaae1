import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Item } from '../wire/types.ts';

/** What a person wrote, as it was typed; also what was added while a run worked. */
export const UserMessage = memo(function UserMessage({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { steer, status } = item.data;
  return (
    <div className="user-message">
      <span className="visually-hidden">{t('run.you')}: </span>
      <div className="bubble">{item.content}</div>
      {steer === true && (
        <span className="steer-note">
          {status === 'processed' || status === 'unprocessed' ? t(`run.steer_${status}`) : t('run.steer_received')}
        </span>
      )}
    </div>
  );
});
