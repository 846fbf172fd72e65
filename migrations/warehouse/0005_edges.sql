-- For whoever asks the warehouse in SQL: the sides unpacked, and the edges between addresses summed
-- from them. Edges are not stored: a block that is applied twice cannot be counted twice. Ask for
-- them by chain and address; USD sums are over the priced transfers, null where none is.
CREATE VIEW IF NOT EXISTS side_rows {{on_cluster}} AS
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
    reinterpretAsUInt32(reverse(substring(best, 12, 4))) AS block_time,
    reinterpretAsUInt8(substring(best, 16, 1)) AS signer,
    substring(best, if(signer = 3, 18 + reinterpretAsUInt8(substring(best, 17, 1)), 17)) AS priced,
    toDecimal128OrNull(splitByChar('\n', priced)[2], 18) AS usd
FROM sides
GROUP BY chain, addr, peer, id;

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
