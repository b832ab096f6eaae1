import { useTranslation } from 'react-i18next';
import { Modal } from '../ui/Modal.tsx';
import { Appearance } from './Appearance.tsx';
import { Providers } from './Providers.tsx';
import './settings.css';

/** Loaded when it is opened first. */
export default function SettingsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal title={t('settings.title')} onClose={onClose} wide>
      <section className="settings-section">
        <h3>{t('settings.providers')}</h3>
        <Providers />
      </section>
      <section className="settings-section">
        <h3>{t('settings.appearance')}</h3>
        <Appearance />
      </section>
    </Modal>
  );
}
