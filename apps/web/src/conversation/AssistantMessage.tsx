import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Item } from '../wire/types.ts';
import { Markdown } from './Markdown.tsx';
import { Reasoning } from './Reasoning.tsx';

/** What the model wrote. The text of a streaming answer is no live region; its outcome is announced once. */
export const AssistantMessage = memo(function AssistantMessage({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { reasoningContent } = item.data;
  const streaming = item.status === 'streaming';
  return (
    <div className={streaming ? 'answer streaming' : 'answer'} data-item={item.id} data-status={item.status}>
      <span className="visually-hidden">{t('run.assistant')}: </span>
      <Markdown text={item.content} />
      {/* It comes with the completed message; above the text it would push down what is being read. */}
      {typeof reasoningContent === 'string' && <Reasoning text={reasoningContent} />}
    </div>
  );
});
