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

-- The counts, each with how much was written when it was made. The row without a chain says that
-- what was held before there were counts is marked as written too.
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
