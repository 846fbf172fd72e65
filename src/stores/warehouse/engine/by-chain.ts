// Which tables are partitioned by chain, and how is one made so?
// The number of partitions is that of the chains, far below what one insert may touch (100).

/** A table that grows with history: the column that its key has after the chain, and the rest. */
export type ByChain = {
  readonly table: string;
  readonly key: 'block' | 'number' | 'addr' | 'created';
  /** By what a cluster shards it, as the migration that made it says. */
  readonly sharded: string;
  readonly settings: string;
};

const SMALL_BLOCKS = `SETTINGS index_granularity = 256, min_compress_block_size = 4096,
  max_compress_block_size = 16384`;
const ON_ADDR = { key: 'addr', sharded: 'sipHash64(addr)' } as const;

/** The widest last: whoever waits for the move of a small one need not wait for it. */
export const BY_CHAIN: readonly ByChain[] = [
  { table: 'blocks', key: 'number', sharded: 'number', settings: '' },
  { table: 'creations', key: 'created', sharded: 'sipHash64(created)', settings: '' },
  { table: 'creators', ...ON_ADDR, settings: 'SETTINGS index_granularity = 1024' },
  { table: 'transactions', key: 'block', sharded: "sipHash64(tx_hash, '')", settings: '' },
  { table: 'transfers', key: 'block', sharded: 'sipHash64(tx_hash, place)', settings: '' },
  { table: 'sides', ...ON_ADDR, settings: SMALL_BLOCKS },
];

const CREATED = /^CREATE TABLE IF NOT EXISTS (\w+?)(?:_local)?\s/;

/** A statement of a migration, by which a table that is not there yet begins partitioned. */
export function partitioned(statement: string): string {
  const created = CREATED.exec(statement)?.[1];
  if (!BY_CHAIN.some(({ table }) => table === created)) return statement;
  return statement.replace(/\n(?=PRIMARY KEY|ORDER BY)/, '\nPARTITION BY chain\n');
}

/**
 * The statements, in the words of migrations, that make the twin of a table by chain, and have
 * whatever is written to the table written to it too. `keys` are those of the table.
 */
export function twinOf({ table, sharded, settings }: ByChain, keys: string): string {
  return `CREATE TABLE IF NOT EXISTS {{local:${table}_by_chain}} {{on_cluster}}
    AS {{local:${table}}} ENGINE = {{engine:AggregatingMergeTree()}} PARTITION BY chain
    ${keys} ${settings};
    {{distributed:${table}_by_chain:${sharded}}};
    CREATE MATERIALIZED VIEW IF NOT EXISTS ${viewOf(table)} {{on_cluster}}
    TO {{local:${table}_by_chain}} AS SELECT * FROM {{local:${table}}};`;
}

/** The view that writes into the twin of a table what is written to it. */
export function viewOf(table: string): string {
  return `${table}_to_chain`;
}

/** The statements that drop what a table was before, however large; first what writes into it. */
export function clearingOf({ table }: ByChain): string {
  const end = '{{on_cluster}} SYNC SETTINGS max_table_size_to_drop = 0';
  return `DROP TABLE IF EXISTS ${viewOf(table)} ${end};
    {{cluster_only}} DROP TABLE IF EXISTS ${table}_by_chain ${end};
    DROP TABLE IF EXISTS {{local:${table}_by_chain}} ${end};`;
}
