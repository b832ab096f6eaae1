import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

const NEAR_PX = 48;

export interface Stick {
  scroller: RefObject<HTMLElement | null>;
  content: RefObject<HTMLDivElement | null>;
  /** False while the reader has scrolled up. */
  stuck: boolean;
  jump: () => void;
}

/**
 * Keeps a scroller at its end while its content grows, until the reader scrolls up. The scroll happens in a
 * ResizeObserver, after layout and before paint, so that what is on the screen never jumps.
 */
export function useStickToBottom(key: string): Stick {
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuckNow = useRef(true);
  const [stuck, setStuck] = useState(true);

  const jump = useCallback(() => {
    stuckNow.current = true;
    setStuck(true);
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation begins at its end
  useLayoutEffect(jump, [key, jump]);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    let height = box.scrollHeight;
    const observer = new ResizeObserver(() => {
      height = box.scrollHeight;
      if (stuckNow.current) box.scrollTop = height;
    });
    observer.observe(inner);
    observer.observe(box);
    const onScroll = () => {
      // Growth that has not been followed yet is not the reader scrolling up.
      if (box.scrollHeight !== height) return;
      const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      if (atEnd === stuckNow.current) return;
      stuckNow.current = atEnd;
      setStuck(atEnd);
    };
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, []);

  return { scroller, content, stuck, jump };
}
