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
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3) CODEC(ZSTD(1)),
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
    [(from_address, to_address, 1), (to_address, from_address, 0)]) AS side;
