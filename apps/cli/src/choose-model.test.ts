import { expect, it } from 'vitest';
import { chooseModel } from './choose-model.ts';

const models = [
  { providerId: 'a', id: 'off', enabled: false },
  { providerId: 'a', id: 'one', enabled: true },
  { providerId: 'b', id: 'two', enabled: true },
];

it('takes the first enabled model that fits', () => {
  expect(chooseModel(models, {}).id).toBe('one');
  expect(chooseModel(models, { provider: 'b' }).id).toBe('two');
  expect(chooseModel(models, { model: 'two' }).providerId).toBe('b');
});

it('refuses a model that is not there or not enabled', () => {
  for (const wanted of [{ provider: 'c' }, { model: 'off' }, { provider: 'a', model: 'two' }]) {
    expect(() => chooseModel(models, wanted)).toThrow(expect.objectContaining({ code: 'MODEL_NOT_CONFIGURED' }));
  }
  expect(() => chooseModel([], {})).toThrow(expect.objectContaining({ code: 'MODEL_NOT_CONFIGURED' }));
});
