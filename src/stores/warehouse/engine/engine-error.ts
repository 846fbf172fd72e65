// Is an error of the engine a failure that may pass, or a bug of ours?
// Refuses to guess: a code that is not in the table is a bug, and shows itself as one.
import { type UnavailableCode, WarehouseQueryError, WarehouseUnavailable } from './executor.ts';

// Writing again is harmless in all of them: rows that come twice fall together, and a statement of
// a follower or an import is repeated from the position that is stored.
const CODES_OF: Readonly<
  Record<Exclude<UnavailableCode, 'aborted' | 'closed'>, readonly number[]>
> = {
  // TIMEOUT_EXCEEDED, TOO_SLOW, SOCKET_TIMEOUT
  timeout: [159, 160, 209],
  interrupted: [
    // CANNOT_READ_FROM_SOCKET, CANNOT_WRITE_TO_SOCKET, ABORTED
    ...[95, 96, 236],
    // UNKNOWN_STATUS_OF_INSERT, UNFINISHED
    ...[319, 341],
    // PART_IS_TEMPORARILY_LOCKED, QUERY_WAS_CANCELLED, REPLICA_STATUS_CHANGED, DEADLOCK_AVOIDED
    ...[384, 394, 416, 473],
    // S3_ERROR, THREAD_WAS_CANCELED, ASYNC_LOAD_CANCELED, TABLE_IS_BEING_RESTARTED
    ...[499, 677, 696, 733],
    // QUERY_WAS_CANCELLED_BY_CLIENT, PART_IS_LOCKED
    ...[735, 738],
  ],
  overloaded: [
    // CANNOT_ALLOCATE_MEMORY, QUOTA_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION
    ...[173, 201, 202, 203],
    // MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS, RECEIVED_ERROR_TOO_MANY_REQUESTS, CANNOT_SCHEDULE_TASK
    ...[241, 252, 364, 439],
    // DISTRIBUTED_TOO_MANY_PENDING_BYTES, TOO_MANY_MUTATIONS, USER_SESSION_LIMIT_EXCEEDED
    ...[574, 692, 700],
    // SERVER_OVERLOADED, TCP_CONNECTION_LIMIT_REACHED, HTTP_CONNECTION_LIMIT_REACHED
    ...[745, 749, 762],
    // SESSION_REFUSED, MEMORY_RESERVATION_KILLED, MEMORY_RESERVATION_FAILED
    ...[763, 777, 778],
  ],
  down: [
    // DNS_ERROR, NETWORK_ERROR, NO_ZOOKEEPER, UNEXPECTED_ZOOKEEPER_ERROR
    ...[198, 210, 225, 244],
    // ALL_CONNECTION_TRIES_FAILED, SHARD_HAS_NO_CONNECTIONS, TOO_MANY_UNAVAILABLE_SHARDS
    ...[279, 297, 904],
    // KEEPER_EXCEPTION
    999,
  ],
  replicas: [
    // NO_SUCH_DATA_PART, NO_REPLICA_HAS_PART, TABLE_IS_READ_ONLY, NO_ACTIVE_REPLICAS
    ...[232, 234, 242, 254],
    // TOO_MANY_RETRIES_TO_FETCH_PARTS, NO_AVAILABLE_REPLICA, TOO_FEW_LIVE_REPLICAS
    ...[255, 265, 285],
    // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, REPLICA_IS_NOT_IN_QUORUM, ALL_REPLICAS_ARE_STALE
    ...[286, 289, 369],
    // NOT_A_LEADER, DATABASE_REPLICATION_FAILED
    ...[529, 571],
  ],
  // CANNOT_WRITE_TO_FILE_DESCRIPTOR, CANNOT_FSYNC, NOT_ENOUGH_SPACE, CANNOT_WRITE_TO_FILE
  disk: [75, 204, 243, 294],
  damaged: [
    // CHECKSUM_DOESNT_MATCH, TOO_MANY_UNEXPECTED_DATA_PARTS, CORRUPTED_DATA, ALL_REPLICAS_LOST
    ...[40, 231, 246, 415],
    // TABLE_IS_PERMANENTLY_READ_ONLY
    774,
  ],
  // READONLY, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, ACCESS_DENIED, AUTHENTICATION_FAILED
  rejected: [164, 192, 193, 194, 497, 516],
};
const UNAVAILABLE_CODES = new Map(
  Object.entries(CODES_OF).flatMap(([code, numbers]) =>
    numbers.map((number) => [number, code as keyof typeof CODES_OF] as const),
  ),
);

const CODE = /Code: (\d+)/;
const REASON = /\(([A-Z][A-Z0-9_]{2,})\)/g;

/** The error for a code of ClickHouse; `said` is kept out of the message. */
export function engineError(
  code: number,
  reason: string,
  said: string,
): WarehouseUnavailable | WarehouseQueryError {
  const unavailable = UNAVAILABLE_CODES.get(code);
  if (unavailable !== undefined) return new WarehouseUnavailable(unavailable);
  return new WarehouseQueryError(code, reason, said);
}

/** The same from the text of an exception: `Code: 62. DB::Exception: … (SYNTAX_ERROR)`. */
export function saidError(said: string): WarehouseUnavailable | WarehouseQueryError {
  const code = CODE.exec(said)?.[1];
  const reason = [...said.matchAll(REASON)].at(-1)?.[1];
  const number = code === undefined ? 0 : Number(code);
  return engineError(number, reason === undefined ? 'UNNAMED' : reason, said);
}
