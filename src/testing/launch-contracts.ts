// The contracts that the tests of deployer records launch on a real chain.

export const LAUNCH_CONTRACTS = `
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

contract Erc20 {
  event Transfer(address indexed from, address indexed to, uint256 value);
  uint256 public totalSupply;
  uint8 public constant decimals = 18;
  mapping(address => uint256) public balanceOf;
  constructor(uint256 supply) {
    totalSupply = supply;
    balanceOf[msg.sender] = supply;
    emit Transfer(address(0), msg.sender, supply);
  }
  function transfer(address to, uint256 value) external returns (bool) {
    balanceOf[msg.sender] -= value;
    balanceOf[to] += value;
    emit Transfer(msg.sender, to, value);
    return true;
  }
}

contract Mortal is Erc20(1000) {
  function end() external { selfdestruct(payable(msg.sender)); }
}

contract Nft {
  uint256 public totalSupply = 1;
  function balanceOf(address) external pure returns (uint256) { return 1; }
  function ownerOf(uint256) external pure returns (address) { return address(1); }
  function supportsInterface(bytes4 id) external pure returns (bool) {
    return id == 0x80ac58cd || id == 0x01ffc9a7;
  }
}

contract Pair is Erc20(1) {
  address public token0;
  address public token1;
  address public factory = msg.sender;
  constructor(address a, address b) { token0 = a; token1 = b; }
}

contract ExchangePair {
  event Mint(address indexed sender, uint256 amount0, uint256 amount1);
  address public token0;
  address public token1;
  uint256 private held0;
  uint256 private held1;
  constructor(address a, address b) { token0 = a; token1 = b; }
  function mint() external {
    uint256 now0 = Erc20(token0).balanceOf(address(this));
    uint256 now1 = Erc20(token1).balanceOf(address(this));
    emit Mint(msg.sender, now0 - held0, now1 - held1);
    held0 = now0;
    held1 = now1;
  }
}

contract Exchange {
  event PairCreated(address indexed token0, address indexed token1, address pair, uint256);
  uint256 private made;
  function createPair(address a, address b) external returns (address) {
    (address first, address second) = a < b ? (a, b) : (b, a);
    address pair = address(new ExchangePair(first, second));
    made += 1;
    emit PairCreated(first, second, pair, made);
    return pair;
  }
}

contract Router {
  function swap(address) external pure returns (bool) { return true; }
}

contract Proxy {
  address private immutable code;
  constructor(address of_) { code = of_; }
  fallback() external {
    address to = code;
    assembly {
      calldatacopy(0, 0, calldatasize())
      let ok := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
      returndatacopy(0, 0, returndatasize())
      if iszero(ok) { revert(0, returndatasize()) }
      return(0, returndatasize())
    }
  }
}

contract Anything {
  fallback() external {
    assembly {
      mstore(0, 1)
      return(0, 32)
    }
  }
}

contract Stillborn { constructor() { revert("stillborn"); } }

contract PlainFactory {
  function make() external returns (address) { return address(new Erc20(7)); }
}

contract TokenFactory is PlainFactory {
  function makeAt(bytes32 salt) external returns (address) {
    return address(new Mortal{salt: salt}());
  }
  function endAt(bytes32 salt) external returns (address made) {
    Mortal token = new Mortal{salt: salt}();
    made = address(token);
    token.end();
  }
  function makeFactory() external returns (address) { return address(new PlainFactory()); }
}
`;
