// Planning costs several times the running of a small statement. It refuses to keep the plans of
// more than a few: what is asked often is a closed set of our own texts.

import { type PGlite, protocol, types } from '@electric-sql/pglite';
import type { Param } from './database.ts';

/** Statements whose plans are kept. More of them is a mistake of ours. */
const KEPT_MAX = 64;

type Described = {
  readonly write: readonly ((value: unknown) => string | null)[];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
};
type Prepared = Described & { readonly name: string };

type Run = (sql: string, params: readonly Param[]) => Promise<object[]>;

/** Runs statements that are planned when first asked for. Its caller sends one at a time. */
export function preparedStatements(engine: PGlite): Run {
  const kept = new Map<string, Prepared>();

  async function prepare(sql: string): Promise<Prepared> {
    if (kept.size >= KEPT_MAX) throw new RangeError('pglite: too many statements to keep');
    const described = await describe(engine, sql);
    const name = `often_${kept.size}`;
    await engine.execProtocol(
      Buffer.concat([protocol.serialize.parse({ name, text: sql }), protocol.serialize.sync()]),
    );
    const statement = { name, ...described };
    kept.set(sql, statement);
    return statement;
  }

  return async (sql, params) => {
    const known = kept.get(sql);
    const statement = known === undefined ? await prepare(sql) : known;
    return execute(engine, [], statement, params);
  };
}

/** Statements of which it is remembered what they take and give; past it all is forgotten. */
const DESCRIBED_MAX = 1_000;
const CHANGES_TABLES = /\b(?:create|alter|drop|rollback)\b/i;

/**
 * Runs statements that are planned anew each time. What one takes and gives is asked when it comes
 * again: in one message to the engine instead of six. Its caller sends one at a time.
 */
export function describedStatements(engine: PGlite): {
  readonly run: Run;
  /** Told of each script: a statement may give other columns once tables have changed. */
  readonly noteScript: (sql: string) => void;
} {
  const known = new Map<string, Described | 'seen once'>();
  const noteScript = (sql: string) => {
    if (CHANGES_TABLES.test(sql)) known.clear();
  };

  async function describeAgain(sql: string): Promise<Described> {
    const described = await describe(engine, sql);
    known.set(sql, described);
    return described;
  }

  return {
    noteScript,
    run: async (sql, params) => {
      const before = known.get(sql);
      if (before === undefined) {
        noteScript(sql);
        if (known.size >= DESCRIBED_MAX) known.clear();
        known.set(sql, 'seen once');
        return (await engine.query<object>(sql, [...params])).rows;
      }
      const described = before === 'seen once' ? await describeAgain(sql) : before;
      const unnamed = { name: '', ...described };
      return execute(engine, [protocol.serialize.parse({ text: sql })], unnamed, params);
    },
  };
}

async function describe(engine: PGlite, sql: string): Promise<Described> {
  const { queryParams, resultFields } = await engine.describeQuery(sql);
  const write = queryParams.map(({ serializer }) => (value: unknown): string | null => {
    if (value === null) return null;
    return serializer === undefined ? String(value) : serializer(value);
  });
  return { write, fields: resultFields };
}

async function execute(
  engine: PGlite,
  first: readonly Uint8Array[],
  { name, write, fields }: Prepared,
  params: readonly Param[],
): Promise<object[]> {
  const values = params.map((param, i) => {
    const text = write[i];
    if (text === undefined) throw new RangeError('pglite: a statement has more values than holes');
    return text(param);
  });
  const { messages } = await engine.execProtocol(
    Buffer.concat([
      ...first,
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
}

function rowOf(
  values: readonly (string | null)[],
  fields: Described['fields'],
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
