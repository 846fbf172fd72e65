-- Rows of market series: candles, funding, fills. Each is JSON text of the form that its kind has,
-- under the identity that tells it from the others of its series. Another word about one identity is
-- a row that was received later; none is ever changed. Times are milliseconds since 1970.
CREATE TABLE IF NOT EXISTS {{local:market_series}} {{on_cluster}}
(
    venue LowCardinality(String),
    series LowCardinality(String),
    subject String CODEC(ZSTD(1)),
    at Int64 CODEC(Delta, ZSTD(1)),
    identity String CODEC(ZSTD(1)),
    received_at Int64 CODEC(Delta, ZSTD(1)),
    row String CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree()}}
PRIMARY KEY (venue, series, subject, at)
ORDER BY (venue, series, subject, at, identity, received_at, row)
SETTINGS index_granularity = 1024;

{{distributed:market_series:sipHash64(subject)}};

-- The times of which a series is held in full, written after its rows, and those that its venue does
-- not give any more.
CREATE TABLE IF NOT EXISTS market_coverage {{on_cluster}}
(
    venue LowCardinality(String),
    series LowCardinality(String),
    subject String,
    from_ms Int64,
    to_ms Int64,
    state Enum8('covered' = 1, 'gone' = 2),
    -- 1 observed, 0 simulated.
    observed UInt8,
    received_at Int64,
    source String
)
ENGINE = {{engine_everywhere:ReplacingMergeTree()}}
ORDER BY (venue, series, subject, from_ms, to_ms, state, observed, received_at, source);
