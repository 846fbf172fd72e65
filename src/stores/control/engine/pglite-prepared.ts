// Planning costs several times the running of a small statement. It refuses to keep more than a
// few: what is asked often is a closed set of our own texts.

import { type PGlite, protocol, types } from '@electric-sql/pglite';
import type { Param } from './database.ts';

/** Statements that are kept. More of them is a mistake of ours. */
const KEPT_MAX = 32;

type Prepared = {
  readonly name: string;
  readonly write: readonly ((value: unknown) => string | null)[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
};

/** Runs statements that are planned when first asked for. Its caller sends one at a time. */
export function preparedStatements(
  engine: PGlite,
): (sql: string, params: readonly Param[]) => Promise<object[]> {
  const kept = new Map<string, Prepared>();

  async function prepare(sql: string): Promise<Prepared> {
    if (kept.size >= KEPT_MAX) throw new RangeError('pglite: too many statements to keep');
    const { queryParams, resultFields } = await engine.describeQuery(sql);
    const name = `often_${kept.size}`;
    await engine.execProtocol(
      Buffer.concat([protocol.serialize.parse({ name, text: sql }), protocol.serialize.sync()]),
    );
    const write = queryParams.map(({ serializer }) => (value: unknown): string | null => {
      if (value === null) return null;
      return serializer === undefined ? String(value) : serializer(value);
    });
    const statement = { name, write, fields: resultFields };
    kept.set(sql, statement);
    return statement;
  }

  return async (sql, params) => {
    const known = kept.get(sql);
    const { name, write, fields } = known === undefined ? await prepare(sql) : known;
    const values = params.map((param, i) => {
      const text = write[i];
      if (text === undefined)
        throw new RangeError('pglite: a statement has more values than holes');
      return text(param);
    });
    const { messages } = await engine.execProtocol(
      Buffer.concat([
        protocol.serialize.bind({ statement: name, values }),
        protocol.serialize.execute({}),
        protocol.serialize.sync(),
      ]),
    );
    const rows: object[] = [];
    for (const message of messages) {
      if ('fields' in message && message.name === 'dataRow') {
        rows.push(rowOf(message.fields as readonly (string | null)[], fields, engine.parsers));
      }
    }
    return rows;
  };
}

function rowOf(
  values: readonly (string | null)[],
  fields: Prepared['fields'],
  parsers: PGlite['parsers'],
): object {
  return Object.fromEntries(
    fields.map(({ name, dataTypeID }, i) => {
      const value = values[i];
      return [name, types.parseType(value === undefined ? null : value, dataTypeID, parsers)];
    }),
  );
}

// Small buffers: the tables of the control store are small, and memory at rest is bounded.

/** The engine's parameters beside its own defaults. */
export const ENGINE_PARAMETERS: readonly string[] = [
  '-c',
  'shared_buffers=16MB',
  '-c',
  'max_wal_size=64MB',
  '-c',
  'min_wal_size=32MB',
  '-c',
  'timezone=UTC',
];

/** Type ids of PostgreSQL whose values are read otherwise than the drivers do by themselves. */
export const TYPE_ID: {
  readonly [name in
    | 'bytea'
    | 'int8'
    | 'date'
    | 'timestamp'
    | 'textArray'
    | 'int8Array'
    | 'numericArray']: number;
} = {
  bytea: 17,
  int8: 20,
  date: 1082,
  timestamp: 1114,
  textArray: 1009,
  int8Array: 1016,
  numericArray: 1231,
};

/** The id under which the engine's worker says that it is ready. */
export const READY_ID = 1;
