// Guarantee: the rows of a statement have no type before a schema parses them.
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Database } from './database.ts';

declare const database: Database;

test('a type cannot be claimed for rows, and a schema gives it', async () => {
  // @ts-expect-error: the columns are claimed, and nothing looks at them
  await database.query<{ n: number }>('select 1 as n');
  const [row] = await database.query('select 1 as n');
  // @ts-expect-error: a column of an unparsed row
  row?.n;
  expectTypeOf(z.object({ n: z.int() }).parse(row).n).toEqualTypeOf<number>();
});
