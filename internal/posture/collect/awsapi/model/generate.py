"""Generates services.bin: the read operations of every AWS service with the shapes
that they use, without documentation texts, from the models of botocore.

Run it with "make generate-aws". It evaluates the endpoint rule sets with
botocore's own interpreter for every region of the known partitions, and stores only
endpoints that differ from the default host name.

services.bin is: the length of the index (4 bytes, big endian), the index (JSON,
zstd), a zstd dictionary, then one zstd frame per service. The index has the position
of each.
"""

import collections
import gzip
import json
import os
import re
import struct
import sys

import botocore
import zstandard
from botocore.endpoint_provider import EndpointProvider
from botocore.exceptions import BotoCoreError

DATA = os.path.join(os.path.dirname(botocore.__file__), "data")
READS = re.compile(r"(List|Describe|Get|BatchGet|BatchDescribe|Search|Query|Lookup|Head)(?![a-z])")

# Operations that collectors call although their names are not those of reads.
ALSO = {
    "iam": {"GenerateCredentialReport", "GenerateServiceLastAccessedDetails", "SimulatePrincipalPolicy", "SimulateCustomPolicy"},
    "sts": {"AssumeRole"},
}

# A service may support several protocols. JSON is the cheapest to convert to JSON;
# CBOR is used only when there is no other.
PREFERENCE = ["json", "rest-json", "query", "ec2", "rest-xml", "smithy-rpc-v2-cbor"]
PARTITIONS = ["aws", "aws-cn", "aws-us-gov"]
UNKNOWN = {"aws": "us-unknown-9", "aws-cn": "cn-unknown-9", "aws-us-gov": "us-gov-unknown-9"}  # stands for regions that opened after the generation


def load(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path) as f:
        return json.load(f)


def models():
    """Yields name and folder of the newest version of every service."""
    for name in sorted(os.listdir(DATA)):
        folder = os.path.join(DATA, name)
        if os.path.isdir(folder):
            versions = [v for v in os.listdir(folder) if os.path.exists(os.path.join(folder, v, "service-2.json.gz"))]
            if versions:
                yield name, os.path.join(folder, max(versions))


class Shapes:
    """The shapes that operations use, numbered in the order of first use."""

    def __init__(self, model):
        self.model, self.number, self.kept = model, {}, []

    def add(self, name):
        if name in self.number:
            return self.number[name]
        self.number[name] = len(self.kept)
        shape, out = self.model[name], {"n": name}
        self.kept.append(out)
        out["t"] = shape["type"]
        for long, short in (("union", "u"), ("document", "d"), ("flattened", "f"), ("streaming", "b"), ("sensitive", "x")):
            if shape.get(long):
                out[short] = True
        for long, short in (("payload", "p"), ("timestampFormat", "ts"), ("enum", "e")):
            if shape.get(long):
                out[short] = shape[long]
        required = set(shape.get("required", ()))
        if "members" in shape:
            out["m"] = [self.ref(r, member, member in required) for member, r in shape["members"].items()]
        for long, short in (("member", "i"), ("key", "k"), ("value", "v")):
            if long in shape:
                out[short] = self.ref(shape[long])
        return self.number[name]

    def ref(self, ref, name=None, required=False):
        out = {"n": name} if name else {}
        out["s"] = self.add(ref["shape"])
        for long, short in (("locationName", "l"), ("location", "at"), ("queryName", "q"), ("timestampFormat", "ts")):
            if ref.get(long):
                out[short] = ref[long]
        if name and out.get("l") == name and "at" not in out:
            del out["l"]
        for long, short in (("flattened", "f"), ("xmlAttribute", "a"), ("jsonvalue", "j"), ("streaming", "b"), ("idempotencyToken", "tok")):
            if ref.get(long):
                out[short] = True
        if required:
            out["r"] = True
        return out

    def streams_events(self, name, seen=None):
        seen = set() if seen is None else seen
        if name in seen:
            return False
        seen.add(name)
        shape = self.model[name]
        refs = list(shape.get("members", {}).values()) + [shape[k] for k in ("member", "key", "value") if k in shape]
        return bool(shape.get("eventstream")) or any(self.streams_events(r["shape"], seen) for r in refs)


class Endpoints:
    """Host names and signing scopes by partition."""

    def __init__(self, folder, regions, signing):
        self.provider = EndpointProvider(load(os.path.join(folder, "endpoint-rule-set-1.json.gz")), load(os.path.join(DATA, "partitions.json")))
        self.regions, self.signing = regions, signing

    def resolve(self, region, fips, static):
        params = {"Region": region, "UseFIPS": fips, "UseDualStack": False, **static}
        known = self.provider.ruleset.parameters
        try:
            found = self.provider.resolve_endpoint(**{k: v for k, v in params.items() if k in known})
        except BotoCoreError:
            return None
        scheme = next((s for s in found.properties.get("authSchemes", []) if s["name"] == "sigv4"), {})
        host = found.url.removeprefix("https://")
        if "/" in host or "://" in host:
            return None
        out = {"h": host.replace(region, "{region}")}
        if scheme.get("signingName", self.signing) != self.signing:
            out["n"] = scheme["signingName"]
        if scheme.get("signingRegion", region) != region:
            out["r"] = scheme["signingRegion"]
        return out

    @staticmethod
    def applied(entry, region):
        """Returns the endpoint of a region from an entry, with the region filled in."""
        return entry and (entry["h"].replace("{region}", region), entry.get("n"), entry.get("r", region))

    def table(self, prefix, static):
        """Returns the differences from prefix.{region}.suffix and its FIPS form."""
        out = {}
        for partition, suffix in (("aws", "amazonaws.com"), ("aws-cn", "amazonaws.com.cn"), ("aws-us-gov", "amazonaws.com")):
            for fips, usual in ((False, f"{prefix}.{{region}}.{suffix}"), (True, f"{prefix}-fips.{{region}}.{suffix}")):
                default = self.resolve(UNKNOWN[partition], fips, static)
                other = {}
                for region in self.regions[partition]:
                    here = self.resolve(region, fips, static)
                    if self.applied(here, region) != self.applied(default, region):
                        other[region] = here
                entry = {}
                if default is None:
                    entry["none"] = True
                elif default != {"h": usual}:
                    entry["d"] = default
                if other:
                    entry["x"] = other
                if entry:
                    out[partition + ("+fips" if fips else "")] = entry
        return out


def pagination(folder):
    pages = {}
    for file in ("paginators-1.json", "paginators-1.sdk-extras.json"):
        path = os.path.join(folder, file)
        if os.path.exists(path):
            paginators = load(path)
            for name, p in paginators.get("pagination", {}).items():
                pages[name] = p
    many = lambda v: v if isinstance(v, list) else [v]
    for name, p in pages.items():
        out = {"in": many(p["input_token"]), "out": many(p["output_token"])}
        if p.get("more_results"):
            out["more"] = p["more_results"]
        if p.get("limit_key"):
            out["limit"] = p["limit_key"]
        yield name, out


def service(name, folder, regions):
    model = load(os.path.join(folder, "service-2.json.gz"))
    meta, shapes = model["metadata"], Shapes(model["shapes"])
    protocol = min(meta.get("protocols") or [meta["protocol"]], key=PREFERENCE.index)
    out = {"id": meta["serviceId"], "version": meta["apiVersion"], "protocol": protocol, "prefix": meta["endpointPrefix"], "signing": meta.get("signingName", meta["endpointPrefix"])}
    for long, short in (("jsonVersion", "jsonVersion"), ("targetPrefix", "target")):
        if meta.get(long):
            out[short] = meta[long]
    if "awsQueryCompatible" in meta:
        out["queryCompatible"] = True
    if isinstance(meta.get("xmlNamespace"), dict):
        out["namespace"] = meta["xmlNamespace"]["uri"]
    elif meta.get("xmlNamespace"):
        out["namespace"] = meta["xmlNamespace"]
    endpoints, pages = Endpoints(folder, regions, out["signing"]), dict(pagination(folder))
    usual = endpoints.table(meta["endpointPrefix"], {})
    if usual:
        out["endpoints"] = usual
    operations = {}
    for op, o in model["operations"].items():
        if not READS.match(op) and op not in ALSO.get(name, ()):
            continue
        if any(k in o and shapes.streams_events(o[k]["shape"]) for k in ("input", "output")):
            continue
        kept = {"m": o["http"]["method"], "u": o["http"]["requestUri"]}
        for k in ("input", "output"):
            if k in o:
                kept[k[0]] = shapes.add(o[k]["shape"])
        if o.get("input", {}).get("locationName"):
            kept["root"] = o["input"]["locationName"]
        if o.get("input", {}).get("xmlNamespace"):
            kept["ns"] = o["input"]["xmlNamespace"]["uri"]
        if "endpoint" in o:
            kept["host"] = o["endpoint"]["hostPrefix"]
        if o.get("authtype") == "none" or o.get("auth") == ["smithy.api#noAuth"]:
            kept["unsigned"] = True
        if o.get("httpChecksumRequired") or o.get("httpChecksum", {}).get("requestChecksumRequired"):
            kept["checksum"] = True
        if op in pages:
            kept["page"] = pages[op]
        static = {k: v["value"] for k, v in o.get("staticContextParams", {}).items()}
        static.pop("RequiresAccountId", None)  # it is in the host prefix
        # The client computes the addresses of calls that name a bucket: each bucket has its own.
        buckets = name.startswith("s3") and "Bucket" in model["shapes"][o["input"]["shape"]].get("members", {})
        if static and not buckets:
            own = endpoints.table(meta["endpointPrefix"], static)
            if own != usual:
                kept["endpoints"] = own
        operations[op] = kept
    out["operations"], out["shapes"] = operations, shapes.kept
    return out


def main(target):
    regions = {p["id"]: sorted(r for r in p["regions"] if not r.endswith("-global")) for p in load(os.path.join(DATA, "partitions.json"))["partitions"] if p["id"] in PARTITIONS}
    texts, counts = {}, collections.Counter()
    for name, folder in models():
        s = service(name, folder, regions)
        if s["operations"]:
            texts[name] = json.dumps(s, separators=(",", ":"), ensure_ascii=False).encode()
            counts["services"] += 1
            counts["operations"] += len(s["operations"])
            counts["shapes"] += len(s["shapes"])
    # A shared dictionary of frequent strings gives small services a good compression
    # ratio, while each can still be decompressed alone.
    dictionary = zstandard.train_dictionary(64 << 10, [t[i : i + 8192] for t in texts.values() for i in range(0, len(t), 8192)], level=19)
    compressor = zstandard.ZstdCompressor(dict_data=dictionary, level=22, write_content_size=True)
    frames = {name: compressor.compress(t) for name, t in texts.items()}
    index = {"botocore": botocore.__version__, "regions": regions, "dictionary": len(dictionary.as_bytes()), "services": [[n, len(f)] for n, f in frames.items()]}
    head = zstandard.ZstdCompressor(level=19).compress(json.dumps(index, separators=(",", ":")).encode())
    with open(target, "wb") as f:
        f.write(struct.pack(">I", len(head)) + head + dictionary.as_bytes() + b"".join(frames.values()))
    print(dict(counts), sum(map(len, texts.values())), "bytes as JSON,", os.path.getsize(target), "in", target)


main(sys.argv[1])
