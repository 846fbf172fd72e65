-- Counterparties are counted over the edges of a walk alone, and the newest count holds: one by an
-- older rule, or from before a token was known to be worthless, must not stand for good.
DROP TABLE IF EXISTS degrees {{on_cluster}} SYNC;

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
