import { limits } from '@rookery/protocol';
import type { DiscoveredModel, Model } from '../wire/types.ts';

/** A model as its form holds it: text as it was typed. */
export interface ModelRow {
  key: number;
  id: string;
  displayName: string;
  contextWindow: string;
}

let nextKey = 1;

export function emptyRow(): ModelRow {
  return { key: nextKey++, id: '', displayName: '', contextWindow: String(limits.contextWindowDefault) };
}

export function rowOf(model: DiscoveredModel | Model): ModelRow {
  return {
    key: nextKey++,
    id: model.id,
    displayName: model.displayName ?? model.id,
    contextWindow: String(model.contextWindow ?? limits.contextWindowDefault),
  };
}

/** Discovered models added to what is there; a row that was typed stays as it is. */
export function mergeRows(rows: readonly ModelRow[], found: readonly DiscoveredModel[]): ModelRow[] {
  const kept = rows.filter((row) => row.id.trim() !== '');
  const known = new Set(kept.map((row) => row.id.trim()));
  return [...kept, ...found.filter((model) => !known.has(model.id)).map(rowOf)];
}

/** The rows as the server wants them; rows without a name are left out. */
export function modelsOf(rows: readonly ModelRow[]): { id: string; displayName: string; contextWindow: number }[] {
  return rows
    .filter((row) => row.id.trim() !== '')
    .map((row) => ({
      id: row.id.trim(),
      displayName: row.displayName.trim() || row.id.trim(),
      contextWindow: positive(row.contextWindow) ?? limits.contextWindowDefault,
    }));
}

function positive(text: string): number | null {
  const value = Number(text.replace(/[\s,_]/g, ''));
  return Number.isSafeInteger(value) && value > 0 ? value : null;
}
