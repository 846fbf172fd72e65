-- Calls that reading the histories of listed addresses ahead made of explorers, by day: whoever made
-- them, and however often it was started.
CREATE TABLE IF NOT EXISTS ring_calls {{on_cluster}}
(
    day Date,
    calls UInt64
)
ENGINE = {{engine_everywhere:SummingMergeTree(calls)}}
ORDER BY day;
