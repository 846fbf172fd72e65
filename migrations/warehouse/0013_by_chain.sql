-- Tables that grow with history are partitioned by chain: what is done to one chain touches no part
-- of another. A warehouse that begins now has them so from the start; filled ones are moved, table
-- by table and chain by chain, while they are read and written. How far: all rows of a table and a
-- chain are copied up to `upto`, in the order of the table's key after the chain; empty before the
-- first.
CREATE TABLE IF NOT EXISTS moved_by_chain {{on_cluster}}
(
    of String,
    chain String,
    upto String,
    done UInt8,
    rows UInt64,
    version UInt64
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(version)}}
ORDER BY (of, chain);
