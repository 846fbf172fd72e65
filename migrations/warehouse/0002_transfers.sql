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
    tx_hash String CODEC(ZSTD(1)),
    place String CODEC(ZSTD(1)),
    kind Enum8('native' = 1, 'internal' = 2, 'token' = 3) CODEC(ZSTD(1)),
    -- Empty for the chain's own coin.
    token String CODEC(ZSTD(1)),
    from_address String CODEC(ZSTD(1)),
    to_address String CODEC(ZSTD(1)),
    raw_amount UInt256 CODEC(ZSTD(1)),
    -- Which of the equal rows of its transaction it is, from 0.
    n UInt16 CODEC(ZSTD(1)),
    block_time SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
    -- Empty where the source does not tell; so are the next two.
    block_hash SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
    position SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
    initiator SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
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
