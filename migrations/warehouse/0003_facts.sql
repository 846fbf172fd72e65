-- What else is known of chains: blocks, signers, creations, what is held in full, tokens, prices.

-- Headers of final blocks. A fork shows itself by a second hash.
CREATE TABLE IF NOT EXISTS {{local:blocks}} {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    number UInt64 CODEC(Delta, ZSTD(1)),
    hash String DEFAULT unhex(hash_hex) CODEC(ZSTD(1)),
    parent_hash SimpleAggregateFunction(max, String) DEFAULT unhex(parent_hash_hex) CODEC(ZSTD(1)),
    time SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
    finality SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1)),
    hash_hex String EPHEMERAL,
    parent_hash_hex String EPHEMERAL
)
ENGINE = {{engine:AggregatingMergeTree()}}
ORDER BY (chain, number, hash);

{{distributed:blocks:number}};

-- Who signed a transaction, for transfers whose source does not say.
CREATE TABLE IF NOT EXISTS {{local:transactions}} {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    block UInt64 CODEC(Delta, ZSTD(1)),
    tx_hash String DEFAULT unhex(tx_hash_hex) CODEC(ZSTD(1)),
    initiator SimpleAggregateFunction(max, String) DEFAULT unhex(initiator_hex) CODEC(ZSTD(1)),
    success SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1)),
    tx_hash_hex String EPHEMERAL,
    initiator_hex String EPHEMERAL
)
ENGINE = {{engine:AggregatingMergeTree()}}
PRIMARY KEY (chain, block)
ORDER BY (chain, block, tx_hash);

{{distributed:transactions:sipHash64(tx_hash, '')}};

-- Contracts by their address. One may be made again after it destroyed itself, hence the key.
CREATE TABLE IF NOT EXISTS {{local:creations}} {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    created String DEFAULT unhex(created_hex) CODEC(ZSTD(1)),
    creator String DEFAULT unhex(creator_hex) CODEC(ZSTD(1)),
    tx_hash String DEFAULT unhex(tx_hash_hex) CODEC(ZSTD(1)),
    block UInt64 CODEC(ZSTD(1)),
    initiator SimpleAggregateFunction(max, String) DEFAULT unhex(initiator_hex) CODEC(ZSTD(1)),
    block_hash SimpleAggregateFunction(max, String) DEFAULT unhex(block_hash_hex) CODEC(ZSTD(1)),
    block_time SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
    finality SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1)),
    observed SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1)),
    created_hex String EPHEMERAL,
    creator_hex String EPHEMERAL,
    tx_hash_hex String EPHEMERAL,
    initiator_hex String EPHEMERAL,
    block_hash_hex String EPHEMERAL
)
ENGINE = {{engine:AggregatingMergeTree()}}
PRIMARY KEY (chain, created)
ORDER BY (chain, created, creator, tx_hash, block);

{{distributed:creations:sipHash64(created)}};

-- The same by who made them: under the one that ran the creation and under the one that signed.
CREATE TABLE IF NOT EXISTS {{local:creators}} {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    addr String CODEC(ZSTD(1)),
    created String CODEC(ZSTD(1)),
    creator String CODEC(ZSTD(1)),
    tx_hash String CODEC(ZSTD(1)),
    block UInt64 CODEC(ZSTD(1)),
    initiator SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
    block_time SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
    observed SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1))
)
ENGINE = {{engine:AggregatingMergeTree()}}
PRIMARY KEY (chain, addr)
ORDER BY (chain, addr, created, creator, tx_hash, block)
SETTINGS index_granularity = 1024;

{{distributed:creators:sipHash64(addr)}};

CREATE MATERIALIZED VIEW IF NOT EXISTS creators_of_creations {{on_cluster}} TO creators AS
SELECT chain, addr, created, creator, tx_hash, block, initiator, block_time, observed
FROM {{local:creations}}
ARRAY JOIN arrayDistinct(if(initiator = '', [creator], [creator, initiator])) AS addr;

-- Blocks of a chain whose transfers of a kind are all held.
CREATE TABLE IF NOT EXISTS coverage {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3),
    from_block UInt64,
    to_block UInt64,
    source String,
    observed UInt8,
    to_time SimpleAggregateFunction(max, UInt32)
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
ORDER BY (chain, kind, from_block, to_block, source, observed);

-- Blocks of a chain whose transfers of one address and a kind were all read.
CREATE TABLE IF NOT EXISTS {{local:address_coverage}} {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    addr String DEFAULT unhex(addr_hex),
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3),
    from_block UInt64,
    to_block UInt64,
    source String,
    observed UInt8,
    to_time SimpleAggregateFunction(max, UInt32),
    from_first SimpleAggregateFunction(max, UInt8),
    read_at SimpleAggregateFunction(max, UInt32),
    addr_hex String EPHEMERAL
)
ENGINE = {{engine:AggregatingMergeTree()}}
PRIMARY KEY (chain, addr)
ORDER BY (chain, addr, kind, from_block, to_block, source, observed)
SETTINGS index_granularity = 256;

{{distributed:address_coverage:sipHash64(addr)}};

-- Addresses with many transfers, whose rows are not read to be counted: as they were last counted,
-- and the most that was ever counted. Who is not here has few, or was not counted yet.
CREATE TABLE IF NOT EXISTS degrees {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    addr String,
    degree SimpleAggregateFunction(max, UInt64),
    transfers SimpleAggregateFunction(max, UInt64),
    -- 0 where any of them is simulated.
    observed SimpleAggregateFunction(min, UInt8)
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
ORDER BY (chain, addr);

-- What is known of tokens, the newest reading of each.
CREATE TABLE IF NOT EXISTS tokens {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    token String DEFAULT unhex(token_hex),
    symbol Nullable(String),
    decimals Nullable(UInt8),
    has_market Nullable(Bool),
    read_at UInt32,
    token_hex String EPHEMERAL
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(read_at)}}
ORDER BY (chain, token);

-- Historical prices of one whole coin; `token` is empty for the chain's own. A coin that the source
-- has no price of at that time has none here: it is unpriced, not worthless.
CREATE TABLE IF NOT EXISTS prices {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    token String DEFAULT unhex(token_hex),
    at UInt32,
    usd Decimal(38, 18),
    basis String,
    read_at UInt32,
    token_hex String EPHEMERAL
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(read_at)}}
ORDER BY (chain, token, at);
