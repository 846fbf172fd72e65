// How do files of chain exports become transfers of the store, each of them once?
// Read all of them into scratch first, since a transaction may lie in two files; then write whole
// blocks. It refuses a file that changes meanwhile, and a second import beside the first.

import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CHAINS } from '../../chain/chain.ts';
import type { Part, Read, Unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BulkImport,
  BulkImportOrder,
  BulkImportOutcome,
  BulkImportRecord,
  BulkImportWatch,
  ImportedFile,
} from '../../ports/bulk-import.ts';
import type { HeldRange, TransferStore } from '../../ports/transfer-store.ts';
import { WarehouseUnavailable } from '../warehouse/executor.ts';
import { type Checkpoint, readCheckpoint, writeCheckpoint, writeWhole } from './checkpoint.ts';
import { ImportFault } from './fault.ts';
import { type BlockRange, RANGES_MAX, withBlock, without } from './held-blocks.ts';
import { fingerprintOf, type InputFile, inputFile, inputPaths, textColumns } from './input-file.ts';
import { byBlock, judged } from './judge.ts';
import { type Layout, layoutOf } from './layout.ts';
import { type Chunk, openScratch, type Scratch } from './scratch.ts';
import type { FileColumn, StagedFile } from './staging-sql.ts';
