-- Imports by their id: what each was and what it wrote, so that one can be taken out again. The
-- rows themselves do not say who brought them: they are the same whoever did.
CREATE TABLE IF NOT EXISTS imports {{on_cluster}}
(
    import_id String,
    chain String,
    source String,
    observed UInt8,
    state Enum8('begun' = 1, 'completed' = 2, 'forgetting' = 3, 'forgotten' = 4),
    rows UInt64,
    rows_refused UInt64,
    transfers UInt64,
    began_at UInt32,
    changed_at UInt32,
    version UInt64
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(version)}}
ORDER BY import_id;

-- The blocks into which an import wrote, recorded before it does: kinds as a sum of 1 native,
-- 2 internal, 4 token; and the last time that its files tell of each, -1 where they tell none.
CREATE TABLE IF NOT EXISTS import_blocks {{on_cluster}}
(
    chain String,
    import_id String,
    block UInt64,
    kinds SimpleAggregateFunction(groupBitOr, UInt8),
    time SimpleAggregateFunction(max, Int64)
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
ORDER BY (chain, import_id, block);

-- The coverage that an import recorded, before it is recorded.
CREATE TABLE IF NOT EXISTS import_coverage {{on_cluster}}
(
    import_id String,
    chain String,
    kind String,
    from_block UInt64,
    to_block UInt64,
    source String,
    observed UInt8,
    to_time UInt32
)
ENGINE = {{engine_everywhere:ReplacingMergeTree()}}
ORDER BY (import_id, chain, kind, from_block, to_block, source, observed);

-- Rows of files that are read and not yet written: a partition for each file, dropped once all of
-- its blocks are written. `reason` is empty for a good row; texts that are no hash and no address
-- stand as they are.
CREATE TABLE IF NOT EXISTS import_rows {{on_cluster}}
(
    import_id String,
    file UInt32,
    line UInt64,
    dataset LowCardinality(String),
    block UInt64,
    tx String,
    path String,
    from_address String,
    to_address String,
    token String,
    amount UInt256,
    trace LowCardinality(String),
    status Int8,
    subtraces Int32,
    time Int64,
    hash String,
    parent_hash String,
    initiator String,
    tx_count Int32,
    withdrawals String,
    reason LowCardinality(String),
    given String
)
ENGINE = {{engine_everywhere:MergeTree()}}
PARTITION BY (import_id, file)
ORDER BY (block, tx, file, line);

-- What the rows of some blocks come to, while these blocks are written.
CREATE TABLE IF NOT EXISTS import_facts {{on_cluster}}
(
    import_id String,
    block UInt64,
    tx String,
    dataset LowCardinality(String),
    file UInt32,
    line UInt64,
    block_time Int64,
    block_hash String,
    -- Whether another hash is held of its block, and whether the row tells another than the header.
    of_fork UInt8,
    hash_differs UInt8,
    -- A transfer, where `kind` is not empty: success 0 unknown, 1 failed, 2 succeeded.
    kind LowCardinality(String),
    place String,
    token String,
    from_address String,
    to_address String,
    amount UInt256,
    position String,
    initiator String,
    success UInt8,
    -- Whether the transaction's signer is known, and what became of it.
    signed UInt8,
    outcome UInt8,
    creation UInt8,
    refused LowCardinality(String),
    left_out Array(LowCardinality(String)),
    path String,
    trace LowCardinality(String),
    status Int8,
    subtraces Int32,
    tx_count Int32,
    parent_hash String,
    withdrawals String
)
ENGINE = {{engine_everywhere:MergeTree()}}
PARTITION BY import_id
ORDER BY (block, tx, file, line);

CREATE TABLE IF NOT EXISTS import_refused {{on_cluster}}
(
    import_id String,
    file UInt32,
    line UInt64,
    dataset LowCardinality(String),
    block UInt64,
    reason LowCardinality(String),
    given String
)
ENGINE = {{engine_everywhere:ReplacingMergeTree()}}
PARTITION BY import_id
ORDER BY (file, line);
