// The contracts of the tests are compiled here, by the compiler's own command, so that no byte of
// them is taken on trust.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { oncePerRun } from './once-per-run.ts';

const SOURCE = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

contract Token {
  event Transfer(address indexed from, address indexed to, uint256 value);
  constructor(uint256 supply) { emit Transfer(address(0), msg.sender, supply); }
  function transfer(address to, uint256 value) external { emit Transfer(msg.sender, to, value); }
  function twice(address to, uint256 value) external {
    emit Transfer(msg.sender, to, value);
    emit Transfer(msg.sender, to, value);
  }
  function poison(address victim, address lookalike) external {
    emit Transfer(victim, lookalike, 0);
  }
  function refuse(address to, uint256 value) external {
    emit Transfer(msg.sender, to, value);
    revert("refused");
  }
}

// The lists of several issuers in one, and what an owner allows.
contract Issuer {
  mapping(address => bool) public isBlackListed;
  mapping(address => bool) public isBlacklisted;
  mapping(address => bool) public isFrozen;
  mapping(address => mapping(address => uint256)) public allowance;
  event AddedBlackList(address account);
  event Blacklisted(address indexed account);
  event Approval(address indexed owner, address indexed spender, uint256 value);
  function addBlackList(address account) external {
    isBlackListed[account] = true;
    emit AddedBlackList(account);
  }
  function blacklist(address account) external {
    isBlacklisted[account] = true;
    emit Blacklisted(account);
  }
  function approve(address spender, uint256 value) external {
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
  }
  function take(address owner, uint256 value) external { allowance[owner][msg.sender] -= value; }
}

// A collection of which an owner lets somebody take every item.
contract Collection {
  mapping(address => mapping(address => bool)) public isApprovedForAll;
  event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
  event Approval(address indexed owner, address indexed spender, uint256 indexed id);
  function setApprovalForAll(address operator, bool approved) external {
    isApprovedForAll[msg.sender][operator] = approved;
    emit ApprovalForAll(msg.sender, operator, approved);
  }
  function approve(address spender, uint256 id) external { emit Approval(msg.sender, spender, id); }
}

// What an owner allows through one contract for all tokens, until a time.
contract Lender {
  struct Allowed { uint160 amount; uint48 expiration; uint48 nonce; }
  mapping(address => mapping(address => mapping(address => Allowed))) public allowance;
  event Approval(
    address indexed owner, address indexed token, address indexed spender,
    uint160 amount, uint48 expiration
  );
  event Permit(
    address indexed owner, address indexed token, address indexed spender,
    uint160 amount, uint48 expiration, uint48 nonce
  );
  function approve(address token, address spender, uint160 amount, uint48 expiration) external {
    allowance[msg.sender][token][spender] = Allowed(amount, expiration, 0);
    emit Approval(msg.sender, token, spender, amount, expiration);
  }
  function permit(
    address owner, address token, address spender, uint160 amount, uint48 expiration
  ) external {
    allowance[owner][token][spender] = Allowed(amount, expiration, 1);
    emit Permit(owner, token, spender, amount, expiration, 0);
  }
}

contract Nft {
  event Transfer(address indexed from, address indexed to, uint256 indexed id);
  function mint(address to, uint256 id) external { emit Transfer(address(0), to, id); }
}

contract Old {
  event Transfer(address from, address to, uint256 id);
  function mint(address to, uint256 id) external { emit Transfer(address(0), to, id); }
}

contract Mortal {
  constructor() payable {}
  receive() external payable {}
  function die(address payable heir) external { selfdestruct(heir); }
}

contract Stillborn { constructor() payable { revert("stillborn"); } }

contract Factory {
  function make() external payable { new Mortal{value: msg.value}(); }
  function makeAt(bytes32 salt) external payable { new Mortal{value: msg.value, salt: salt}(); }
  function makeAndEnd(bytes32 salt, address payable heir) external payable {
    new Mortal{value: msg.value, salt: salt}().die(heir);
  }
  function tryStillborn() external payable {
    try new Stillborn{value: msg.value}() {} catch {}
  }
}

contract Splitter {
  function split(address payable a, address payable b) external payable {
    (bool one, ) = a.call{value: msg.value / 2}("");
    (bool two, ) = b.call{value: msg.value / 2}("");
    require(one && two);
  }
  function lose(address payable a) external payable {
    (bool sent, ) = a.call{value: msg.value}("");
    require(sent);
    revert("lost");
  }
  // What the inner call sent comes back with its failure; the outer one succeeds.
  function attempt(address payable a) external payable {
    try this.lose{value: msg.value}(a) {} catch {}
  }
  // The code of another contract runs here: what it sends is sent from here.
  function delegate(address code, address payable a, address payable b) external payable {
    (bool done, ) = code.delegatecall(abi.encodeCall(this.split, (a, b)));
    require(done);
  }
}
`;

/** Compiled contracts: their creation code and the selectors of their functions, `0x`. */
type Contract = {
  readonly code: string;
  readonly selector: (name: string) => string;
};
export type Contracts = (name: string) => Contract;

const COMPILED = z.object({
  contracts: z.object({
    'test.sol': z.record(
      z.string(),
      z.object({
        evm: z.object({
          bytecode: z.object({ object: z.string() }),
          methodIdentifiers: z.record(z.string(), z.string()),
        }),
      }),
    ),
  }),
});
const COMPILE_TIMEOUT_MS = 120_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** Compiles the contracts of a source, once a run; without one, those above. */
export async function compileContracts(source: string = SOURCE): Promise<Contracts> {
  const asked = {
    language: 'Solidity',
    sources: { 'test.sol': { content: source } },
    settings: {
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.methodIdentifiers'] } },
    },
  };
  const question = JSON.stringify(asked);
  const name = `solc-${createHash('sha256').update(question).digest('hex')}`;
  const parsed: unknown = JSON.parse(await oncePerRun(name, () => compileJson(question)));
  const { contracts } = COMPILED.parse(parsed);
  return (name) => {
    const one = contracts['test.sol'][name];
    if (one === undefined) throw new RangeError(`no contract ${name}`);
    const { bytecode, methodIdentifiers } = one.evm;
    const selectors = Object.entries(methodIdentifiers);
    return {
      code: `0x${bytecode.object}`,
      selector: (method) => {
        const found = selectors.find(([signature]) => signature.startsWith(`${method}(`));
        if (found === undefined) throw new RangeError(`no function ${method}`);
        return `0x${found[1]}`;
      },
    };
  };
}

function compileJson(asked: string): Promise<string> {
  const home = dirname(createRequire(import.meta.url).resolve('solc/package.json'));
  const limits = { timeout: COMPILE_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX };
  return new Promise((resolve, reject) => {
    const args = [join(home, 'solc.js'), '--standard-json'];
    const child = execFile(process.execPath, args, limits, (error, out) => {
      if (error !== null) reject(error);
      // It says a line of its own before its JSON.
      else resolve(out.slice(out.indexOf('{')));
    });
    child.stdin?.end(asked);
  });
}

const WORD_DIGITS = 64;

/** Call data: a selector, or creation code, and its arguments, each of one word. */
export function callData(head: string, ...words: readonly (string | bigint)[]): string {
  const hex = words.map((word) => (typeof word === 'bigint' ? word.toString(16) : word.slice(2)));
  return head + hex.map((word) => word.padStart(WORD_DIGITS, '0')).join('');
}
