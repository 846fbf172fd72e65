-- The whole warehouse of version 0.2.0, from which on a version adds files after this one.

-- To which mode this store belongs. A stamped store refuses to open in the other mode, so that
-- simulated history is never read as observed, nor the reverse. One row; two modes are a refusal.
CREATE TABLE IF NOT EXISTS deployment {{on_cluster}}
(
    simulated Bool,
    created DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(created)}}
ORDER BY simulated;

-- Transfers that are final, each of them once. A row that comes again, from any source and in any
-- order, falls together with the one held: what both know is kept by `max`, which depends neither
-- on how often a row came nor on which came first. Bytes: an EVM address is its 20 bytes, an EVM
-- hash its 32; addresses and hashes of other chains are their text.
CREATE TABLE IF NOT EXISTS {{local:transfers}} {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    block UInt64 CODEC(Delta, ZSTD(1)),
    -- The transaction. Empty for what belongs to none, which `place` names instead: the block's
    -- hash, then the index in the block as text.
    tx_hash String DEFAULT unhex(tx_hash_hex) CODEC(ZSTD(1)),
    place String DEFAULT unhex(place_hex) CODEC(ZSTD(1)),
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4) CODEC(ZSTD(1)),
    -- Empty for the chain's own coin.
    token String DEFAULT unhex(token_hex) CODEC(ZSTD(1)),
    from_address String DEFAULT unhex(from_hex) CODEC(ZSTD(1)),
    to_address String DEFAULT unhex(to_hex) CODEC(ZSTD(1)),
    raw_amount UInt256 CODEC(ZSTD(1)),
    -- Which of the equal rows of its transaction it is, from 0.
    n UInt16 CODEC(ZSTD(1)),
    block_time SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
    -- Empty where the source does not tell; so are the next two.
    block_hash SimpleAggregateFunction(max, String) DEFAULT unhex(block_hash_hex) CODEC(ZSTD(1)),
    position SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
    initiator SimpleAggregateFunction(max, String) DEFAULT unhex(initiator_hex) CODEC(ZSTD(1)),
    -- 0 no source tells, 1 failed, 2 succeeded.
    success SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1)),
    -- The price's basis, a line end, and the USD value; empty where unpriced. One column, so that
    -- a value never stands beside the basis of another.
    priced SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
    -- 1 as its importer says, 2 as the followed chain says.
    finality SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1)),
    -- 1 observed, 0 simulated.
    observed SimpleAggregateFunction(max, UInt8) CODEC(ZSTD(1)),
    usd Nullable(Decimal(38, 18)) ALIAS toDecimal128OrNull(splitByChar('\n', priced)[2], 18),
    price_basis Nullable(String) ALIAS nullIf(splitByChar('\n', priced)[1], ''),
    -- The same bytes in hexadecimal, for writers that send text.
    tx_hash_hex String EPHEMERAL,
    place_hex String EPHEMERAL,
    token_hex String EPHEMERAL,
    from_hex String EPHEMERAL,
    to_hex String EPHEMERAL,
    block_hash_hex String EPHEMERAL,
    initiator_hex String EPHEMERAL
)
ENGINE = {{engine:AggregatingMergeTree()}}
PARTITION BY chain
PRIMARY KEY (chain, block)
ORDER BY (chain, block, tx_hash, place, kind, token, from_address, to_address, raw_amount, n);

{{distributed:transfers:sipHash64(tx_hash, place)}};

-- Each transfer twice, under either of its addresses, which is how history is asked for; one to
-- itself once. `id` is what makes a row the one it is, beside both addresses: kind (plus 8 where
-- `place` stands for a transaction), direction (1 out, 0 in), the transaction and the token, each
-- after its length, `n`, and the amount to the end, all numbers big-endian. `detail` is what else
-- is known: observed, success, how much is known, block (8 bytes), time (4), who signed (0 unknown,
-- 1 the sender, 2 the receiver, 3 the one that follows after its length), and `priced`. Of two
-- details the greater is kept, which is the better known one. Two columns in place of ten, since a
-- read of few rows costs by the column; small blocks, since it takes few rows from many places.
CREATE TABLE IF NOT EXISTS {{local:sides}} {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8) CODEC(LZ4),
    addr String CODEC(LZ4),
    peer String CODEC(LZ4),
    id String CODEC(LZ4),
    detail SimpleAggregateFunction(max, String) CODEC(LZ4)
)
ENGINE = {{engine:AggregatingMergeTree()}}
PARTITION BY chain
PRIMARY KEY (chain, addr)
ORDER BY (chain, addr, peer, id)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384;

{{distributed:sides:sipHash64(addr)}};

CREATE MATERIALIZED VIEW IF NOT EXISTS sides_of_transfers {{on_cluster}} TO sides AS
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
    ) AS detail
FROM {{local:transfers}}
ARRAY JOIN if(from_address = to_address,
    [(from_address, to_address, 1)],
    [(from_address, to_address, 1), (to_address, from_address, 0)]) AS side
WHERE kind != 'nft' OR initiator = from_address OR initiator = to_address;

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
PARTITION BY chain
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
PARTITION BY chain
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
PARTITION BY chain
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
PARTITION BY chain
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
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4),
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
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4),
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

-- Addresses with many transfers, whose rows are not read to be counted. Who is not here has few, or
-- was not counted yet.
CREATE TABLE IF NOT EXISTS degrees {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    addr String,
    degree UInt64,
    transfers UInt64,
    -- 0 where any of them is simulated.
    observed UInt8,
    counted DateTime64(3, 'UTC')
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(counted)}}
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

-- The tip of each followed chain: blocks that may still be undone, apart from what is final.
-- Followers of a chain take turns, each under an epoch of its own. Facts of the tip bear the epoch
-- of whoever wrote them and a stamp; only those count that the chain's row in `following` vouches
-- for: its epoch, and for each block the stamp. A block is undone by a new stamp for what comes in
-- its place, so that nothing is deleted row by row: partitions are dropped once all of their blocks
-- are final, or of an epoch that is over.

-- Who may make blocks final and say how far they are: the follower of the greatest epoch alone.
CREATE TABLE IF NOT EXISTS follow_claims {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    epoch SimpleAggregateFunction(max, UInt64)
)
ENGINE = {{engine_everywhere:AggregatingMergeTree()}}
ORDER BY chain;

-- How far each followed chain is final, and how often it was rolled back: whoever reads the tip
-- compares that number before and after, so that no read spans a roll-back.
CREATE TABLE IF NOT EXISTS following {{on_cluster}}
(
    chain Enum8('ethereum' = 1, 'arbitrum' = 2, 'base' = 3, 'bsc' = 4, 'polygon' = 5, 'hyperevm' = 6, 'solana' = 7, 'bitcoin' = 8),
    from_block UInt64,
    kinds Array(Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4)),
    source String,
    observed UInt8,
    final_block Nullable(UInt64),
    final_hash Nullable(String) DEFAULT unhex(final_hash_hex),
    final_time Nullable(UInt32),
    rollbacks UInt64,
    version UInt64,
    final_hash_hex Nullable(String) EPHEMERAL,
    -- Whose tip counts, and from which block on it bears which stamp, lowest first.
    epoch UInt64,
    stamp_blocks Array(UInt64),
    stamps Array(UInt32),
    -- Said before blocks are moved to what is final, so that none of them is undone half-way.
    sealed_block Nullable(UInt64)
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(version)}}
ORDER BY chain;

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
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4),
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
    [(from_address, to_address, 1), (to_address, from_address, 0)]) AS side
WHERE kind != 'nft' OR initiator = from_address OR initiator = to_address;

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

-- For whoever asks the warehouse in SQL: the sides unpacked, and the edges between addresses summed
-- from them. Edges are not stored: a block that is applied twice cannot be counted twice. Ask for
-- them by chain and address; USD sums are over the priced transfers, null where none is.
-- What a transfer was worth is joined when it is asked for, here as in every answer: a correction is
-- a row of `prices`, and corrects both. A price stands for ten minutes. An amount of 10^40 or more of the
-- smallest unit has no value here: the product would not fit.
CREATE VIEW IF NOT EXISTS side_rows {{on_cluster}} AS
WITH toUInt256('10000000000000000000000000000000000000000') AS too_large
SELECT
    s.chain AS chain, s.addr AS addr, s.peer AS peer, s.id AS id, s.kind AS kind,
    s.is_out AS is_out, s.tx AS tx, s.token AS token, s.raw_amount AS raw_amount,
    s.success AS success, s.block AS block, s.block_time AS block_time,
    multiIf(s.token != '', t.decimals, s.chain = 'solana', 9, s.chain = 'bitcoin', 8, 18)
        AS decimals,
    toDecimal256(toString(least(s.raw_amount, too_large)), 0) AS units,
    toDecimal256(concat('1', repeat('0', least(ifNull(decimals, 0), 40))), 0) AS whole,
    if(decimals IS NULL OR decimals > 40 OR s.raw_amount >= too_large, NULL,
        divideDecimal(multiplyDecimal(units, p.usd, 18), whole, 18)) AS usd
FROM (
    SELECT
        chain, addr, peer, id,
        bitAnd(toUInt8(reinterpretAsUInt8(substring(id, 1, 1))), 7) AS kind,
        reinterpretAsUInt8(substring(id, 2, 1)) AS is_out,
        reinterpretAsUInt8(substring(id, 3, 1)) AS tx_length,
        substring(id, 4, tx_length) AS tx,
        reinterpretAsUInt8(substring(id, 4 + tx_length, 1)) AS token_length,
        substring(id, 5 + tx_length, token_length) AS token,
        reinterpretAsUInt256(reverse(substring(id, 7 + tx_length + token_length))) AS raw_amount,
        max(detail) AS best,
        reinterpretAsUInt8(substring(best, 2, 1)) AS success,
        reinterpretAsUInt64(reverse(substring(best, 4, 8))) AS block,
        reinterpretAsUInt32(reverse(substring(best, 12, 4))) AS block_time
    FROM sides
    GROUP BY chain, addr, peer, id
) AS s
LEFT JOIN (
    SELECT chain, token, at, toNullable(argMax(usd, read_at)) AS usd
    FROM prices GROUP BY chain, token, at
) AS p
ON p.chain = s.chain AND p.token = s.token AND p.at = intDiv(s.block_time + 300, 600) * 600
LEFT JOIN (
    SELECT chain, token, argMax(decimals, read_at) AS decimals FROM tokens GROUP BY chain, token
) AS t ON t.chain = s.chain AND t.token = s.token;
CREATE VIEW IF NOT EXISTS edges {{on_cluster}} AS
SELECT
    chain, addr, peer,
    countIf(is_out = 1) AS transfers_out,
    countIf(is_out = 0) AS transfers_in,
    sumOrNullIf(usd, is_out = 1) AS usd_out,
    sumOrNullIf(usd, is_out = 0) AS usd_in,
    countIf(usd IS NULL) AS unpriced,
    min(block_time) AS first_time,
    max(block_time) AS last_time
FROM side_rows
WHERE success != 1
GROUP BY chain, addr, peer;

-- How many transfers are held, without a look at all of them. A transfer may be written more than
-- once, so what is written tells only which blocks must be counted anew: blocks are counted in
-- groups of 64, and a count holds for as long as nothing more is written into its group.
CREATE TABLE IF NOT EXISTS transfers_written {{on_cluster}}
(
    chain String,
    block_group UInt64,
    -- Rows ever written, repeats included, and a mark more for each change that writes none.
    written UInt64
)
ENGINE = {{engine_everywhere:SummingMergeTree()}}
ORDER BY (chain, block_group);

CREATE MATERIALIZED VIEW IF NOT EXISTS written_of_transfers {{on_cluster}} TO transfers_written AS
SELECT toString(chain) AS chain, intDiv(block, 64) AS block_group, count() AS written
FROM {{local:transfers}}
GROUP BY chain, block_group;

-- The counts, each with how much was written when it was made.
CREATE TABLE IF NOT EXISTS transfers_counted {{on_cluster}}
(
    chain String,
    block_group UInt64,
    transfers UInt64,
    from_block UInt64,
    to_block UInt64,
    -- 0 where any of them is simulated.
    observed UInt8,
    at_written UInt64
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(at_written)}}
ORDER BY (chain, block_group);

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

-- Calls that reading the histories of listed addresses ahead made of explorers, by day: whoever made
-- them, and however often it was started.
CREATE TABLE IF NOT EXISTS ring_calls {{on_cluster}}
(
    day Date,
    calls UInt64
)
ENGINE = {{engine_everywhere:SummingMergeTree(calls)}}
ORDER BY day;
