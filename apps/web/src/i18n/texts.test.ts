import { describe, expect, it } from 'vitest';
import { en } from './en.ts';
import { languageFor } from './setup.ts';
import { zhCn } from './zh-cn.ts';

const holes = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]).sort();

describe('texts', () => {
  it('has the same keys in both languages', () => {
    expect(Object.keys(zhCn).sort()).toEqual(Object.keys(en).sort());
  });

  it('has the same placeholders, and no empty text', () => {
    for (const [key, text] of Object.entries(en)) {
      const other = zhCn[key as keyof typeof en];
      expect(holes(other), key).toEqual(holes(text));
      expect(text.trim() === '' || other.trim() === '', key).toBe(false);
    }
  });

  it('follows the first language that the browser wishes', () => {
    expect(languageFor(['zh-TW', 'en'])).toBe('zh-CN');
    expect(languageFor(['de-DE', 'zh-CN'])).toBe('en');
    expect(languageFor([])).toBe('en');
  });
});
