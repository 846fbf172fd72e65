// The walk in SQL is met with a ring of its own and has the same rules: who signed, what moved
// nothing, what is worthless today, hubs and their contacts. Chains are one, and no price is
// known, as in the data.

/** The differences between two dialects. */
export type Dialect = {
  /** The subject: its one parameter, hexadecimal digits, as bytes. */
  readonly subject: string;
  readonly hexOf: (bytes: string) => string;
};

/** Over so many counterparties an address is not walked past. */
export const DEGREE_MAX = 5_000;

const BY_SENDER = 'signer = 1 AND sends';
const BY_RECEIVER = 'signer = 2 AND NOT sends';

/** The columns of a side and, of the ring, whose `peer_signed` says who signed the unsigned. */
export const SIDE_COLUMNS = [
  ...['addr', 'peer', 'sends', 'kind', 'signer', 'initiator', 'moved', 'token', 'block_time', 'tx'],
] as const;

/** The tables that are derived where the sides lie: hubs by the rule of edges, and the ring. */
export function derivedTables(): readonly string[] {
  return [
    `CREATE TABLE hubs AS
      SELECT addr, count(DISTINCT peer) AS degree FROM sides s
      LEFT JOIN worthless w ON s.kind = 3 AND w.token = s.token
      WHERE addr <> peer
        AND addr IN (SELECT addr FROM sides GROUP BY addr HAVING count(*) > ${DEGREE_MAX})
        AND ((${BY_SENDER}) OR (${BY_RECEIVER}) OR signer = 0
          OR (moved AND (signer = 2 OR w.token IS NULL)))
      GROUP BY addr HAVING count(DISTINCT peer) > ${DEGREE_MAX}`,
    `CREATE TABLE signed_alone AS
      SELECT DISTINCT s.addr AS peer, s.tx FROM sides s
      WHERE s.addr <> s.peer AND ((${BY_SENDER}) OR (${BY_RECEIVER})) AND EXISTS (
        SELECT 1 FROM sides l WHERE l.addr IN (SELECT addr FROM listed) AND l.signer = 0
          AND l.peer = s.addr AND l.tx = s.tx)`,
    `CREATE TABLE ring AS
      SELECT l.peer, l.addr AS listed, NOT l.sends AS sends, l.kind, l.signer, l.initiator,
        l.moved, l.token, l.block_time, l.tx, a.tx IS NOT NULL AS peer_signed
      FROM sides l LEFT JOIN signed_alone a ON a.peer = l.peer AND a.tx = l.tx AND l.signer = 0
      WHERE l.addr IN (SELECT addr FROM listed) AND l.addr <> l.peer
      ORDER BY l.peer, l.addr`,
  ];
}

/** The walk: hops, the listed address, the neighbour, and what else is counted, in one row. */
export function walkSql({ subject, hexOf }: Dialect): string {
  return `WITH own AS MATERIALIZED (
  SELECT s.peer, s.tx, s.sends, s.signer, s.moved, w.token IS NOT NULL AS worthless
  FROM sides s LEFT JOIN worthless w ON s.kind = 3 AND w.token = s.token
  WHERE s.addr = ${subject} AND s.peer <> ${subject}
), signed AS MATERIALIZED (
  SELECT DISTINCT tx FROM own WHERE (${BY_SENDER}) OR (${BY_RECEIVER})
), met AS MATERIALIZED (
  SELECT peer, bool_or(edge) AS reached, sum(CASE WHEN edge THEN 0 ELSE 1 END) AS left_out FROM (
    SELECT peer, (moved AND NOT worthless) OR (${BY_SENDER}) OR (${BY_RECEIVER})
      OR (moved AND signer = 2) OR (signer = 0 AND tx IN (SELECT tx FROM signed)) AS edge
    FROM own) judged
  GROUP BY peer
), near AS MATERIALIZED (
  SELECT min(CASE WHEN reached THEN ${hexOf('m.peer')} END) AS listed,
    coalesce(sum(m.left_out), 0) AS contacts
  FROM met m JOIN listed l ON l.addr = m.peer
), far AS MATERIALIZED (
  SELECT peer, listed, busy, sure OR unknown AS may, sure OR (unknown AND peer_signed) AS edge
  FROM (
    SELECT m.peer, r.listed, h.addr IS NOT NULL AS busy, r.peer_signed,
      (r.moved AND w.token IS NULL) OR (r.signer = 1 AND r.sends)
        OR (r.signer = 2 AND (r.moved OR NOT r.sends))
        OR (r.signer = 3 AND r.initiator = ${subject})
        OR (r.signer = 0 AND r.tx IN (SELECT tx FROM signed)) AS sure,
      r.signer = 0 AS unknown
    FROM met m JOIN ring r ON r.peer = m.peer
    LEFT JOIN hubs h ON h.addr = m.peer
    LEFT JOIN worthless w ON r.kind = 3 AND w.token = r.token
    WHERE m.reached AND r.listed <> ${subject} AND (SELECT listed FROM near) IS NULL
      AND NOT EXISTS (SELECT 1 FROM met n WHERE n.reached AND n.peer = r.listed)) told
), hub AS MATERIALIZED (
  SELECT DISTINCT peer, listed FROM far WHERE busy AND may
), way AS (
  SELECT ${hexOf('listed')} AS listed, ${hexOf('peer')} AS peer FROM far
  WHERE edge AND NOT busy ORDER BY 1, 2 LIMIT 1
)
SELECT CASE WHEN near.listed IS NOT NULL THEN 1 WHEN way.listed IS NOT NULL THEN 2 ELSE 0 END,
  coalesce(near.listed, way.listed), way.peer,
  (SELECT count(*) FROM met WHERE reached), (SELECT count(*) FROM hub),
  near.contacts + (SELECT count(*) FROM far
    WHERE NOT edge AND peer NOT IN (SELECT peer FROM hub))
FROM near LEFT JOIN way ON true`;
}
