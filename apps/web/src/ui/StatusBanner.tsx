import { useTranslation } from 'react-i18next';
import { retryNow } from '../actions/rpc.ts';
import { useStore } from '../state/store.ts';
import { ui } from '../state/stores.ts';

/** Says that the connection is away. It lies over the page and so moves nothing. */
export function StatusBanner() {
  const { t } = useTranslation();
  const status = useStore(ui, (state) => state.status);
  const shown = status === 'reconnecting' || status === 'offline';
  return (
    <div role="status" className={shown ? `banner banner-${status}` : 'banner'} data-status={status}>
      {shown && (
        <>
          <span className="dot" />
          <span>{t(`status.${status}`)}</span>
          {status === 'offline' && (
            <button type="button" className="link-button" onClick={retryNow}>
              {t('status.retry')}
            </button>
          )}
        </>
      )}
    </div>
  );
}
