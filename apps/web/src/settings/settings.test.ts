import { rpcParams } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { endpointOf } from './endpoint.ts';
import { emptyRow, mergeRows, modelsOf, rowOf } from './model-rows.ts';
import { parseHeaders } from './parse-headers.ts';

describe('provider forms', () => {
  it('read headers line by line and say which line is none', () => {
    expect(parseHeaders('X-Team: blue\n\n x-empty :\n')).toEqual({
      ok: true,
      headers: { 'X-Team': 'blue', 'x-empty': '' },
    });
    expect(parseHeaders('X-Team: blue\nno header')).toEqual({ ok: false, line: 'no header' });
  });

  it('leave out what stays as it is saved, and send it empty to remove it', () => {
    const fields = { baseUrl: ' http://a/v1 ', key: ' ', headers: {}, forget: { key: false, headers: false } };
    expect(endpointOf(fields)).toEqual({ baseUrl: 'http://a/v1' });
    expect(endpointOf({ ...fields, key: ' k ', headers: { a: 'b' } })).toEqual({
      baseUrl: 'http://a/v1',
      apiKey: 'k',
      headers: { a: 'b' },
    });
    expect(endpointOf({ ...fields, key: 'k', headers: { a: 'b' }, forget: { key: true, headers: true } })).toEqual({
      baseUrl: 'http://a/v1',
      apiKey: '',
      headers: {},
    });
  });

  it('keep what was typed when models are discovered', () => {
    const typed = { ...emptyRow(), id: 'a', displayName: 'Mine' };
    const rows = mergeRows([emptyRow(), typed], [{ id: 'a', displayName: 'Theirs' }, { id: 'b' }]);
    expect(rows.map((row) => [row.id, row.displayName])).toEqual([
      ['a', 'Mine'],
      ['b', 'b'],
    ]);
  });

  it('send what the protocol accepts', () => {
    const models = modelsOf([emptyRow(), { ...rowOf({ id: ' m ' }), displayName: ' ', contextWindow: '1 000,000' }]);
    expect(models).toEqual([{ id: 'm', displayName: 'm', contextWindow: 1_000_000 }]);
    const input = {
      kind: 'custom',
      providerId: 'local',
      displayName: 'Local',
      baseUrl: 'http://127.0.0.1:1/v1',
      models,
    };
    expect(rpcParams['provider.configure'].safeParse(input).success).toBe(true);
  });
});
