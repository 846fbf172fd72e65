-- To which mode this store belongs. A stamped store refuses to open in the other mode, so that
-- simulated history is never read as observed, nor the reverse. One row; two modes are a refusal.
CREATE TABLE IF NOT EXISTS deployment {{on_cluster}}
(
    simulated Bool,
    created DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{engine_everywhere:ReplacingMergeTree(created)}}
ORDER BY simulated;
