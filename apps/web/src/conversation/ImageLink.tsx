import { useTranslation } from 'react-i18next';
import { safeUrl } from '../text/safe-url.ts';
import { Icon } from '../ui/Icon.tsx';

/**
 * An image that a model named. It is never fetched by itself: its address could carry words of the conversation to a
 * stranger. A click opens it in a tab of its own.
 */
export function ImageLink({ src, alt }: { src: string | undefined; alt: string }) {
  const { t } = useTranslation();
  const url = safeUrl(src);
  if (!url || url.startsWith('mailto:')) return <span className="dead-link">{alt}</span>;
  return (
    <a className="image-link" href={url} target="_blank" rel="noopener noreferrer nofollow">
      <Icon name="image" size={16} />
      {alt || t('image.open', { host: new URL(url).host })}
      <small>{new URL(url).host}</small>
    </a>
  );
}
