// Answers one question: whose turn is it to install and build.
// The lock is a file that its holder keeps fresh; one that is no longer kept is taken over.
'use strict';

const fs = require('node:fs');
const { randomUUID } = require('node:crypto');
const { setTimeout: sleep } = require('node:timers/promises');

const FRESHEN_MS = 1_000;
/** After this without freshening a lock is stale; much sooner where its holder's process is gone. */
const STALE_MS = 60_000;
const STALE_GONE_MS = 5_000;
const POLL_MS = 200;
const WAIT_MAX_MS = 20 * 60_000;

/** Runs `work` while holding the lock file; waits its turn first. */
async function withLock(file, say, work) {
  const token = randomUUID();
  await take(file, token, say);
  const timer = setInterval(() => freshen(file), FRESHEN_MS);
  const release = () => {
    if (heldBy(file) === token) fs.rmSync(file, { force: true });
  };
  process.once('exit', release);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    release();
    process.off('exit', release);
  }
}

async function take(file, token, say) {
  const until = Date.now() + WAIT_MAX_MS;
  for (let told = false; !create(file, token); told = true) {
    if (isStale(file)) {
      steal(file);
      continue;
    }
    if (!told) say('another start is setting up; waiting for it');
    if (Date.now() > until) throw new Error(`waited too long; remove ${file} if nothing runs`);
    await sleep(POLL_MS);
  }
}

function create(file, token) {
  try {
    fs.writeFileSync(file, `${token} ${process.pid}`, { flag: 'wx' });
    return true;
  } catch (fault) {
    if (fault.code === 'EEXIST') return false;
    throw fault;
  }
}

function heldBy(file) {
  try {
    return fs.readFileSync(file, 'utf8').split(' ')[0];
  } catch {
    return null;
  }
}

function freshen(file) {
  try {
    const now = new Date();
    fs.utimesSync(file, now, now);
  } catch {
    // The lock was removed by hand: the work goes on, it only stands unguarded.
  }
}

function isStale(file) {
  try {
    const [, pid] = fs.readFileSync(file, 'utf8').split(' ');
    const ageMs = Date.now() - fs.statSync(file).mtimeMs;
    return ageMs > (isAlive(Number(pid)) ? STALE_MS : STALE_GONE_MS);
  } catch {
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return fault.code === 'EPERM';
  }
}

// Taken aside before it is removed: of two that find it stale one gets it, and a fresh lock taken
// aside by mistake goes back.
function steal(file) {
  const aside = `${file}.${randomUUID()}`;
  try {
    fs.renameSync(file, aside);
    if (!isStale(aside)) fs.linkSync(aside, file);
  } catch (fault) {
    if (fault.code !== 'ENOENT' && fault.code !== 'EEXIST') throw fault;
  } finally {
    fs.rmSync(aside, { force: true });
  }
}

exports.withLock = withLock;
