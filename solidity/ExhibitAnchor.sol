// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @title The anchor of one Exhibit transparency log
/// @notice Keeps the root of the log for each size that its owner sends. A root is never replaced,
/// and sizes only grow, so that a second history of the log cannot be anchored beside the first.
contract ExhibitAnchor {
    /// @notice A statement, as EIP-712 encodes it. There is no domain: the hash is the same whatever
    /// chain and contract it is anchored by.
    struct Call {
        string version;
        string chain;
        string target;
        string verdict;
        uint32 confidence_millionths;
        string reasoning;
        string[] evidence_used;
        bytes32 evidence_hash;
        string prompt_version;
        string model;
        string run_id;
        uint64 generated_at_unix;
    }

    bytes32 public constant CALL_TYPEHASH = keccak256(
        "Call(string version,string chain,string target,string verdict,uint32 confidence_millionths,"
        "string reasoning,string[] evidence_used,bytes32 evidence_hash,string prompt_version,"
        "string model,string run_id,uint64 generated_at_unix)"
    );

    /// @notice The kind byte of a signal's leaf.
    bytes1 public constant SIGNAL_LEAF = 0x01;

    /// @notice The only account that anchors.
    address public immutable owner;

    /// @notice The greatest size that was anchored.
    uint64 public latestSize;

    /// @notice The root of the log at an anchored size, and zero at every other size.
    mapping(uint64 size => bytes32 root) public rootOf;

    event Anchored(uint64 indexed size, bytes32 root);

    error NotOwner(address sender);
    error SizeDoesNotGrow(uint64 size, uint64 latestSize);
    error EmptyRoot();

    constructor() {
        owner = msg.sender;
    }

    /// @notice The interface that a sender checks before it sends.
    function version() external pure returns (string memory) {
        return "exhibit-anchor/1";
    }

    /// @notice Anchors the root of the log at a size greater than every size before.
    function anchor(bytes32 root, uint64 size) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        if (size <= latestSize) revert SizeDoesNotGrow(size, latestSize);
        if (root == bytes32(0)) revert EmptyRoot();
        latestSize = size;
        rootOf[size] = root;
        emit Anchored(size, root);
    }

    /// @notice `hashStruct` of a call, by EIP-712.
    function hashCall(Call calldata call) external pure returns (bytes32) {
        bytes32[] memory cited = new bytes32[](call.evidence_used.length);
        for (uint256 i = 0; i < cited.length; i++) {
            cited[i] = keccak256(bytes(call.evidence_used[i]));
        }
        bytes memory head = abi.encode(
            CALL_TYPEHASH,
            keccak256(bytes(call.version)),
            keccak256(bytes(call.chain)),
            keccak256(bytes(call.target)),
            keccak256(bytes(call.verdict)),
            call.confidence_millionths,
            keccak256(bytes(call.reasoning))
        );
        bytes memory tail = abi.encode(
            keccak256(abi.encodePacked(cited)),
            call.evidence_hash,
            keccak256(bytes(call.prompt_version)),
            keccak256(bytes(call.model)),
            keccak256(bytes(call.run_id)),
            call.generated_at_unix
        );
        return keccak256(bytes.concat(head, tail));
    }

    /// @notice Whether a signal is the leaf `index` of the log of `size` leaves that was anchored.
    /// @param proof The inclusion proof of RFC 6962, section 2.1.1, from the leaf upwards.
    function isAnchored(bytes32 callHash, uint64 index, uint64 size, bytes32[] calldata proof)
        external
        view
        returns (bool)
    {
        bytes32 root = rootOf[size];
        if (root == bytes32(0) || index >= size) return false;
        // RFC 9162, section 2.1.3.2.
        uint64 at = index;
        uint64 last = size - 1;
        bytes32 hash = sha256(abi.encodePacked(bytes1(0x00), SIGNAL_LEAF, callHash));
        for (uint256 i = 0; i < proof.length; i++) {
            if (last == 0) return false;
            if (at & 1 == 1 || at == last) {
                hash = sha256(abi.encodePacked(bytes1(0x01), proof[i], hash));
                while (at & 1 == 0 && at != 0) {
                    at >>= 1;
                    last >>= 1;
                }
            } else {
                hash = sha256(abi.encodePacked(bytes1(0x01), hash, proof[i]));
            }
            at >>= 1;
            last >>= 1;
        }
        return last == 0 && hash == root;
    }
}
