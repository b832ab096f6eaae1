import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from './Icon.tsx';

/**
 * A modal dialog. The browser's own <dialog> traps the focus, makes the rest inert and closes on Escape, and unlike the
 * libraries for it needs no style element, which the content security policy would refuse.
 */
export function Modal(props: { title: string; onClose: () => void; wide?: boolean; children: ReactNode }) {
  const { t } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  /** Where the button went down: a selection that is dragged out of a field ends beside the dialog and is no click on it. */
  const pressed = useRef<EventTarget | null>(null);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog closes it; Escape does the same
    <dialog
      ref={dialog}
      className={props.wide ? 'modal modal-wide' : 'modal'}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onPointerDown={(event) => {
        pressed.current = event.target;
      }}
      onClick={(event) => {
        if (event.target === dialog.current && pressed.current === dialog.current) props.onClose();
      }}
    >
      <div className="modal-body">
        <header className="modal-head">
          <h2>{props.title}</h2>
          <button type="button" className="icon-button" aria-label={t('close')} onClick={props.onClose}>
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
