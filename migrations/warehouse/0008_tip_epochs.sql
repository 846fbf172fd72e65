-- Followers of a chain take turns, each under an epoch of its own. Facts of the tip bear the epoch
-- of whoever wrote them and a stamp; only those count that the chain's row in `following` vouches
-- for: its epoch, and for each block the stamp. A block is undone by a new stamp for what comes in
-- its place, so that nothing is deleted row by row: partitions are dropped once all of their blocks
-- are final, or of an epoch that is over. What the tip held before is read from the node again.
DROP VIEW IF EXISTS sides_of_tip {{on_cluster}} SYNC;
DROP TABLE IF EXISTS tip_blocks {{on_cluster}} SYNC;
DROP TABLE IF EXISTS tip_transfers {{on_cluster}} SYNC;
DROP TABLE IF EXISTS tip_sides {{on_cluster}} SYNC;
DROP TABLE IF EXISTS tip_creations {{on_cluster}} SYNC;

-- Who may make blocks final and say how far they are: the follower of the greatest epoch alone.
CREATE TABLE IF NOT EXISTS follow_claims {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    epoch SimpleAggregateFunction(max, UInt64)
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
ORDER BY chain;

-- Whose tip counts, and from which block on it bears which stamp, lowest first. `sealed_block` is
-- said before blocks are moved to what is final, so that none of them is undone half-way.
ALTER TABLE following {{on_cluster}}
    ADD COLUMN IF NOT EXISTS epoch UInt64,
    ADD COLUMN IF NOT EXISTS stamp_blocks Array(UInt64),
    ADD COLUMN IF NOT EXISTS stamps Array(UInt32),
    ADD COLUMN IF NOT EXISTS sealed_block Nullable(UInt64);

-- A block of the tip is there once its header is.
CREATE TABLE IF NOT EXISTS tip_blocks {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    epoch UInt64,
    number UInt64,
    -- From 1.
    stamp UInt32,
    hash String DEFAULT unhex(hash_hex),
    parent_hash String DEFAULT unhex(parent_hash_hex),
    time UInt32,
    hash_hex String EPHEMERAL,
    parent_hash_hex String EPHEMERAL
)
ENGINE = {{engine_everywhere:ReplacingMergeTree()}}
PARTITION BY (chain, epoch, intDiv(number, 1024))
ORDER BY (chain, epoch, number, stamp);

CREATE TABLE IF NOT EXISTS tip_sides {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    epoch UInt64,
    addr String,
    peer String,
    id String,
    detail SimpleAggregateFunction(max, String),
    block UInt64,
    stamp UInt32
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
PARTITION BY (chain, epoch, intDiv(block, 1024))
PRIMARY KEY (chain, addr)
ORDER BY (chain, addr, peer, id, block, stamp)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS tip_transfers {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    epoch UInt64,
    block UInt64,
    stamp UInt32,
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
PARTITION BY (chain, epoch, intDiv(block, 1024))
PRIMARY KEY (chain, epoch, block)
ORDER BY (chain, epoch, block, stamp, tx_hash, place, kind, token, from_address, to_address, raw_amount, n);

CREATE MATERIALIZED VIEW IF NOT EXISTS sides_of_tip {{on_cluster}} TO tip_sides AS
SELECT
    chain,
    epoch,
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
    block,
    stamp
FROM tip_transfers
ARRAY JOIN if(from_address = to_address,
    [(from_address, to_address, 1)],
    [(from_address, to_address, 1), (to_address, from_address, 0)]) AS side;

CREATE TABLE IF NOT EXISTS tip_creations {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    epoch UInt64,
    block UInt64,
    stamp UInt32,
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
PARTITION BY (chain, epoch, intDiv(block, 1024))
ORDER BY (chain, epoch, block, stamp, created, creator, tx_hash);
