import { expect, test } from 'vitest';
import { z } from 'zod';
import { shapedRows, WarehouseUnavailable } from './executor.ts';

const row = z.strictObject({ a: z.string() });
const whole = '{"meta":[],"data":[{"a":"1"},{"a":"2"}],"rows":2}';

test('a whole document gives its rows', () => {
  expect(shapedRows(whole, row)).toEqual([{ a: '1' }, { a: '2' }]);
});

test('an answer cut anywhere, doubled, or miscounted is silence', () => {
  for (let end = 0; end < whole.length; end += 1) {
    expect(() => shapedRows(whole.slice(0, end), row)).toThrow(WarehouseUnavailable);
  }
  for (const wrong of [whole + whole, whole.replace('"rows":2', '"rows":3'), '[]', 'null', '{}']) {
    expect(() => shapedRows(wrong, row)).toThrow(WarehouseUnavailable);
  }
});
