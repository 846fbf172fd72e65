-- Coverage that a node's blocks turned out not to prove, as it was recorded before it was withdrawn.
-- A row without a chain says that a correction was made to its end.
CREATE TABLE IF NOT EXISTS withdrawn_coverage {{on_cluster}}
(
    correction String,
    chain String,
    kind String,
    from_block UInt64,
    to_block UInt64,
    source String
)
ENGINE = {{engine_everywhere:ReplacingMergeTree()}}
ORDER BY (correction, chain, kind, from_block, to_block, source);
