#!/usr/bin/env python3
"""Checks a saved answer by Python's standard library: verify_answer.py FILE --keys FILE. Exit
status 0: it holds, 1: it is refused, 3: its key was marked since, and nothing shows it is older."""
import base64, hashlib, json, re, sys, time
from verify import decode_url, is_signed

# Structured fields (RFC 8941), as far as signatures need them.
KEY = r"[a-z*][a-z0-9_.*-]*"
TEXT = r'"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"'
PARAMETER = rf"; *({KEY})(?:=(-?[0-9]{{1,15}}(?![0-9.])|{TEXT}))?"
PARAMETERS = rf"(?:{PARAMETER.replace('(' + KEY, '(?:' + KEY).replace('(-', '(?:-')})*"
INPUT = rf"\( *((?:{TEXT}{PARAMETERS} *)*)\)({PARAMETERS})"
BYTES = rf":([A-Za-z0-9+/]*={{0,2}}):{PARAMETERS}"
CHARS_MAX, MEMBERS_MAX = 4096, 32

def members(text, member):
    """The members of a dictionary in order, each by its name; none where it is no dictionary."""
    found, at, bare = {}, 0, text.strip(" ")
    while at < len(bare) <= len(text) <= CHARS_MAX:
        one = re.compile(rf"({KEY})={member}(?:[ \t]*,[ \t]*(?=[a-z*])|\Z)").match(bare, at)
        if one is None or one[1] in found or len(found) == MEMBERS_MAX:
            return {}
        found[one[1]], at = one.groups()[1:], one.end()
    return found

def parameters(text):
    """Parameters by their names; a text in its quotes, one without a value is True."""
    rows = re.findall(PARAMETER, text)
    named = {name: int(value) if value[:1].isdigit() or value[:1] == "-" else value or True
             for name, value in rows}
    return named if len(named) == len(rows) <= MEMBERS_MAX else None

def written(named):
    return "".join(f";{name}" if value is True else f";{name}={value}"
                   for name, value in named.items())

def inputs(text):
    """What each signature covers, and its parameters, by its label."""
    found = {}
    for label, (inner, after) in members(text, INPUT).items():
        rows = re.findall(rf"({TEXT})({PARAMETERS})", inner)
        covered, own = [(name, parameters(of)) for name, of in rows], parameters(after)
        if own is None or len(covered) > MEMBERS_MAX or None in [of for _, of in covered]:
            return {}
        found[label] = ([name + written(of) for name, of in covered], own)
    return found

def plain(value):
    """The content of a text in its quotes; a number, True and nothing stay as they are."""
    return re.sub(r'\\(["\\])', r"\1", value[1:-1]) if isinstance(value, str) else value

# The signature base (RFC 9421, section 2.5) of an answer and the request that it is of.
FIELDS = ["content-type", "content-digest", "signature-input", "signature"]
COVERED = ['"@status"', '"content-digest"', '"content-type"', '"@method";req', '"@target-uri";req']

def base_of(covered, own, request, answer):
    values = {'"@status"': str(answer["status"]), '"@method";req': request["method"],
              '"@target-uri";req': request["url"]}
    for name in FIELDS:
        if name in answer["headers"]:
            values[f'"{name}"'] = answer["headers"][name].strip(" \t")
    lines = [f"{one}: {values[one]}" for one in covered if one in values]
    if len(lines) < len(covered) or len(set(covered)) < len(covered) or "\n" in "".join(lines):
        return None
    return "\n".join([*lines, f'"@signature-params": ({" ".join(covered)}){written(own)}']).encode()

def bytes_of(text):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None

def json_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return None

def is_saved_answer(saved):
    try:
        request, answer = saved["request"], saved["answer"]
        texts = [request["method"], request["url"], request["accept_signature"],
                 answer["body_base64"], *[answer["headers"].get(name, "") for name in FIELDS]]
        return (saved["format"] == "exhibit-saved-answer/1" and type(answer["status"]) is int
                and all(isinstance(one, str) for one in texts))
    except (KeyError, TypeError, AttributeError):
        return False

def key_set(text):
    """The Ed25519 keys by their ids; None where it is no set of keys, or names one id twice."""
    try:
        keys = [one for one in json.loads(text)["keys"]
                if (one.get("kty"), one.get("crv")) == ("OKP", "Ed25519")]
        named = {one["kid"]: (decode_url(one["x"] + "="), one["nbf"], one["exp"],
                              one["compromised_since"]) for one in keys}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return named if len(named) == len(keys) else None

def check(file, keys, now, nonce=None, seen=(), leaf_at=None):
    """Whether a pinned key signed it: holds, unproven or refused, and the fault, as our own check
    names it. `seen`: the nonces of answers before; `leaf_at`: when its statement was logged."""
    saved, pinned = json_of(file), key_set(keys)
    if not is_saved_answer(saved) or pinned is None:
        return "refused", "not_a_key_set" if is_saved_answer(saved) else "not_a_saved_answer"
    request, answer = saved["request"], saved["answer"]
    fields = answer["headers"]
    if not {"signature-input", "signature"} <= set(fields):
        return "refused", "unsigned"
    label, (covered, own) = next(iter(inputs(fields["signature-input"]).items()), ("", ([], {})))
    signature = bytes_of(members(fields["signature"], BYTES).get(label, ("?",))[0])
    if signature is None or own.get("alg", '"ed25519"') != '"ed25519"':
        return "refused", "malformed_signature"
    if not set(COVERED) <= set(covered):
        return "refused", "covers_too_little"
    body = bytes_of(answer["body_base64"])
    if body is None or "content-type" not in fields:
        return "refused", "not_a_saved_answer"
    kid, created, said = [plain(own.get(name)) for name in ("keyid", "created", "nonce")]
    if not isinstance(own.get("keyid"), str) or type(created) is not int:
        return "refused", "malformed_signature"
    if kid not in pinned:
        return "refused", "unknown_key"
    digest = members(fields.get("content-digest", ""), BYTES).get("sha-256", ("?",))[0]
    if bytes_of(digest) != hashlib.sha256(body).digest():
        return "refused", "body_changed"
    (public, nbf, exp, since), base = pinned[kid], base_of(covered, own, request, answer)
    if base is None or (len(public), len(signature)) != (32, 64):
        return "refused", "signature_wrong"
    if not is_signed(public, base, signature):
        return "refused", "signature_wrong"
    _, wished = next(iter(inputs(request["accept_signature"]).values()), ([], {}))
    if plain(wished.get("nonce")) != said or nonce not in (None, said):
        return "refused", "nonce_mismatch"
    if said is not None and said in seen:
        return "refused", "nonce_replayed"
    if not nbf <= created < exp:
        return "refused", "key_not_yet_valid" if created < nbf else "key_expired"
    if created > now + 300:
        return "refused", "made_in_future"
    if since is None or (leaf_at is not None and leaf_at < since):
        return "holds", None
    return ("unproven" if created < since else "refused"), "key_compromised"

if __name__ == "__main__":
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    read = lambda path: open(path, encoding="utf-8", newline="").read()
    state, fault = check(read(sys.argv[1]), read(options["--keys"]), time.time())
    print(state if fault is None else f"{state}: {fault}")
    sys.exit({"holds": 0, "refused": 1, "unproven": 3}[state])
