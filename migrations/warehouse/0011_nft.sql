-- A kind of transfer that is told by an id and never by an amount (ERC-721, ERC-1155): `raw_amount`
-- holds the id, which makes a row the one it is. It has a coverage of its own.
ALTER TABLE {{local:transfers}} {{on_cluster}}
    MODIFY COLUMN IF EXISTS kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4);
{{cluster_only}} ALTER TABLE transfers {{on_cluster}}
    MODIFY COLUMN IF EXISTS kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4);
ALTER TABLE tip_transfers {{on_cluster}}
    MODIFY COLUMN IF EXISTS kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4);
ALTER TABLE coverage {{on_cluster}}
    MODIFY COLUMN IF EXISTS kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4);
ALTER TABLE {{local:address_coverage}} {{on_cluster}}
    MODIFY COLUMN IF EXISTS kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4);
{{cluster_only}} ALTER TABLE address_coverage {{on_cluster}}
    MODIFY COLUMN IF EXISTS kind Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4);
ALTER TABLE following {{on_cluster}}
    MODIFY COLUMN IF EXISTS kinds Array(Enum8('native' = 1, 'internal' = 2, 'token' = 3, 'nft' = 4));

-- Only an NFT that a party of its own signed stands under addresses: what strangers send makes no
-- edge of anybody, and would fill the histories of those whom it is sent to.
ALTER TABLE sides_of_transfers {{on_cluster}} MODIFY QUERY
SELECT
    chain,
    side.1 AS addr,
    side.2 AS peer,
    concat(
        char(toUInt8(kind) + if(tx_hash = '', 8, 0), side.3, length(concat(tx_hash, place))),
        tx_hash, place, char(length(token)), token,
        reverse(reinterpretAsFixedString(n)), reverse(reinterpretAsString(raw_amount))
    ) AS id,
    concat(
        char(observed, success, if(initiator = '', 0, 2) + if(priced = '', 0, 1)),
        reverse(reinterpretAsFixedString(block)), reverse(reinterpretAsFixedString(block_time)),
        multiIf(initiator = '', '\0', initiator = from_address, '\x01',
            initiator = to_address, '\x02', concat('\x03', char(length(initiator)), initiator)),
        priced
    ) AS detail
FROM {{local:transfers}}
ARRAY JOIN if(from_address = to_address,
    [(from_address, to_address, 1)],
    [(from_address, to_address, 1), (to_address, from_address, 0)]) AS side
WHERE kind != 'nft' OR initiator = from_address OR initiator = to_address;

ALTER TABLE sides_of_tip {{on_cluster}} MODIFY QUERY
SELECT
    chain,
    epoch,
    side.1 AS addr,
    side.2 AS peer,
    concat(
        char(toUInt8(kind) + if(tx_hash = '', 8, 0), side.3, length(concat(tx_hash, place))),
        tx_hash, place, char(length(token)), token,
        reverse(reinterpretAsFixedString(n)), reverse(reinterpretAsString(raw_amount))
    ) AS id,
    concat(
        char(observed, success, if(initiator = '', 0, 2) + if(priced = '', 0, 1)),
        reverse(reinterpretAsFixedString(block)), reverse(reinterpretAsFixedString(block_time)),
        multiIf(initiator = '', '\0', initiator = from_address, '\x01',
            initiator = to_address, '\x02', concat('\x03', char(length(initiator)), initiator)),
        priced
    ) AS detail,
    block,
    stamp
FROM tip_transfers
ARRAY JOIN if(from_address = to_address,
    [(from_address, to_address, 1)],
    [(from_address, to_address, 1), (to_address, from_address, 0)]) AS side
WHERE kind != 'nft' OR initiator = from_address OR initiator = to_address;
