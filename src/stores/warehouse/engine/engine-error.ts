// Is an error of the engine a failure that may pass, or a bug of ours?
// Refuses to guess: a code that is not in the table is a bug, and shows itself as one.
import { type UnavailableCode, WarehouseQueryError, WarehouseUnavailable } from './executor.ts';

const UNAVAILABLE_CODES: ReadonlyMap<number, UnavailableCode> = new Map<number, UnavailableCode>([
  [159, 'timeout'], // TIMEOUT_EXCEEDED
  [160, 'timeout'], // TOO_SLOW
  [209, 'timeout'], // SOCKET_TIMEOUT
  [394, 'interrupted'], // QUERY_WAS_CANCELLED
  [236, 'interrupted'], // ABORTED
  [319, 'interrupted'], // UNKNOWN_STATUS_OF_INSERT
  [733, 'interrupted'], // TABLE_IS_BEING_RESTARTED
  [173, 'overloaded'], // CANNOT_ALLOCATE_MEMORY
  [202, 'overloaded'], // TOO_MANY_SIMULTANEOUS_QUERIES
  [203, 'overloaded'], // NO_FREE_CONNECTION
  [241, 'overloaded'], // MEMORY_LIMIT_EXCEEDED
  [243, 'overloaded'], // NOT_ENOUGH_SPACE
  [252, 'overloaded'], // TOO_MANY_PARTS
  [439, 'overloaded'], // CANNOT_SCHEDULE_TASK
  [473, 'overloaded'], // DEADLOCK_AVOIDED
  [745, 'overloaded'], // SERVER_OVERLOADED
  [198, 'down'], // DNS_ERROR
  [210, 'down'], // NETWORK_ERROR
  [225, 'down'], // NO_ZOOKEEPER
  [242, 'down'], // TABLE_IS_READ_ONLY: its keeper is away
  [279, 'down'], // ALL_CONNECTION_TRIES_FAILED
  [285, 'down'], // TOO_FEW_LIVE_REPLICAS
  [369, 'down'], // ALL_REPLICAS_ARE_STALE
  [999, 'down'], // KEEPER_EXCEPTION
  [192, 'rejected'], // UNKNOWN_USER
  [193, 'rejected'], // WRONG_PASSWORD
  [194, 'rejected'], // REQUIRED_PASSWORD
  [497, 'rejected'], // ACCESS_DENIED
  [516, 'rejected'], // AUTHENTICATION_FAILED
]);

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
