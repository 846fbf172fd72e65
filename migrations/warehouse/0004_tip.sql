-- The tip of each followed chain: blocks that may still be undone, apart from what is final. A block
-- is there once its header is; facts above the highest header are those of a block half-applied or
-- undone, and are cleared away before a block is applied in their place.
CREATE TABLE IF NOT EXISTS tip_blocks {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    number UInt64,
    hash String DEFAULT unhex(hash_hex),
    parent_hash String DEFAULT unhex(parent_hash_hex),
    time UInt32,
    -- 0 undone.
    live UInt8,
    version UInt64,
    hash_hex String EPHEMERAL,
    parent_hash_hex String EPHEMERAL
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(version)}}
ORDER BY (chain, number);

-- How far each followed chain is final, and how often it was rolled back: whoever reads the tip
-- compares that number before and after, so that no read spans a roll-back.
CREATE TABLE IF NOT EXISTS following {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    from_block UInt64,
    kinds Array(Enum8('native' = 1, 'internal' = 2, 'token' = 3)),
    source String,
    observed UInt8,
    final_block Nullable(UInt64),
    final_hash Nullable(String) DEFAULT unhex(final_hash_hex),
    final_time Nullable(UInt32),
    rollbacks UInt64,
    version UInt64,
    final_hash_hex Nullable(String) EPHEMERAL
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(version)}}
ORDER BY chain;

CREATE TABLE IF NOT EXISTS tip_transfers {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    block UInt64,
    tx_hash String DEFAULT unhex(tx_hash_hex),
    place String DEFAULT unhex(place_hex),
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3),
    token String DEFAULT unhex(token_hex),
    from_address String DEFAULT unhex(from_hex),
    to_address String DEFAULT unhex(to_hex),
    raw_amount UInt256,
    n UInt16,
    block_time SimpleAggregateFunction(max, UInt32),
    block_hash SimpleAggregateFunction(max, String) DEFAULT unhex(block_hash_hex),
    position SimpleAggregateFunction(max, String),
    initiator SimpleAggregateFunction(max, String) DEFAULT unhex(initiator_hex),
    success SimpleAggregateFunction(max, UInt8),
    priced SimpleAggregateFunction(max, String),
    finality SimpleAggregateFunction(max, UInt8),
    observed SimpleAggregateFunction(max, UInt8),
    tx_hash_hex String EPHEMERAL,
    place_hex String EPHEMERAL,
    token_hex String EPHEMERAL,
    from_hex String EPHEMERAL,
    to_hex String EPHEMERAL,
    block_hash_hex String EPHEMERAL,
    initiator_hex String EPHEMERAL
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
PRIMARY KEY (chain, block)
ORDER BY (chain, block, tx_hash, place, kind, token, from_address, to_address, raw_amount, n);

-- As `sides`, of the tip.
CREATE TABLE IF NOT EXISTS tip_sides {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    addr String,
    peer String,
    id String,
    detail SimpleAggregateFunction(max, String),
    block UInt64
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
PRIMARY KEY (chain, addr)
ORDER BY (chain, addr, peer, id, block)
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS sides_of_tip {{on_cluster}} TO tip_sides AS
SELECT
    chain,
    side.1 AS addr,
    side.2 AS peer,
    concat(
        char(toUInt8(kind) + if(tx_hash = '', 8, 0), side.3, length(concat(tx_hash, place))),
        tx_hash, place, char(length(token)), token,
        reverse(reinterpretAsFixedString(n)), reverse(reinterpretAsString(raw_amount))
    ) AS id,
    concat(
        char(observed, success, if(initiator = '', 0, 2) + if(priced = '', 0, 1)),
        reverse(reinterpretAsFixedString(block)), reverse(reinterpretAsFixedString(block_time)),
        multiIf(initiator = '', '\0', initiator = from_address, '\x01',
            initiator = to_address, '\x02', concat('\x03', char(length(initiator)), initiator)),
        priced
    ) AS detail,
    block
FROM tip_transfers
ARRAY JOIN if(from_address = to_address,
    [(from_address, to_address, 1)],
    [(from_address, to_address, 1), (to_address, from_address, 0)]) AS side;

CREATE TABLE IF NOT EXISTS tip_creations {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    block UInt64,
    created String DEFAULT unhex(created_hex),
    creator String DEFAULT unhex(creator_hex),
    tx_hash String DEFAULT unhex(tx_hash_hex),
    initiator SimpleAggregateFunction(max, String) DEFAULT unhex(initiator_hex),
    block_hash SimpleAggregateFunction(max, String) DEFAULT unhex(block_hash_hex),
    block_time SimpleAggregateFunction(max, UInt32),
    observed SimpleAggregateFunction(max, UInt8),
    created_hex String EPHEMERAL,
    creator_hex String EPHEMERAL,
    tx_hash_hex String EPHEMERAL,
    initiator_hex String EPHEMERAL,
    block_hash_hex String EPHEMERAL
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
ORDER BY (chain, block, created, creator, tx_hash);
