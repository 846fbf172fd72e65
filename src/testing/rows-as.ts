import type { Param, Session } from '../stores/control/engine/database.ts';

/** The rows of a statement whose columns a test knows. */
export async function rowsAs<Row extends object>(
  session: Pick<Session, 'query'>,
  ...statement: [sql: string, params?: readonly Param[]]
): Promise<Row[]> {
  const rows: object[] = await session.query(...statement);
  return rows as Row[];
}
