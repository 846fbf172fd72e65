-- What a transfer was worth is joined when it is asked for, here as in every answer: a correction is
-- a row of `prices`, and corrects both. What an earlier version stored beside transfers is not read.
-- A price stands for ten minutes. An amount of 10^40 or more of the smallest unit has no value here:
-- the product would not fit.
CREATE OR REPLACE VIEW side_rows {{on_cluster}} AS
WITH toUInt256('10000000000000000000000000000000000000000') AS too_large
SELECT
    s.chain AS chain, s.addr AS addr, s.peer AS peer, s.id AS id, s.kind AS kind,
    s.is_out AS is_out, s.tx AS tx, s.token AS token, s.raw_amount AS raw_amount,
    s.success AS success, s.block AS block, s.block_time AS block_time,
    multiIf(s.token != '', t.decimals, s.chain = 'solana', 9, s.chain = 'bitcoin', 8, 18)
        AS decimals,
    toDecimal256(toString(least(s.raw_amount, too_large)), 0) AS units,
    toDecimal256(concat('1', repeat('0', least(ifNull(decimals, 0), 40))), 0) AS whole,
    if(decimals IS NULL OR decimals > 40 OR s.raw_amount >= too_large, NULL,
        divideDecimal(multiplyDecimal(units, p.usd, 18), whole, 18)) AS usd
FROM (
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
        reinterpretAsUInt32(reverse(substring(best, 12, 4))) AS block_time
    FROM sides
    GROUP BY chain, addr, peer, id
) AS s
LEFT JOIN (
    SELECT chain, token, at, toNullable(argMax(usd, read_at)) AS usd
    FROM prices GROUP BY chain, token, at
) AS p
ON p.chain = s.chain AND p.token = s.token AND p.at = intDiv(s.block_time + 300, 600) * 600
LEFT JOIN (
    SELECT chain, token, argMax(decimals, read_at) AS decimals FROM tokens GROUP BY chain, token
) AS t ON t.chain = s.chain AND t.token = s.token;
