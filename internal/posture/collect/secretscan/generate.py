"""Converts the rules of gitleaks to JSON: generate.py GITLEAKS_TOML VERSION OUTPUT.

Rules about file names are left out, because what Vigil scans has none."""
import json
import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    config = tomllib.load(file)


def allowlists(lists):
    """Returns the allowlists that can apply without the path of a file: those that have no paths, and
    those of which one criterion suffices (the condition is not AND)."""
    return [
        {"target": a.get("regexTarget", "secret"), "regexes": a.get("regexes", []), "stopwords": a.get("stopwords", [])}
        for a in lists
        if "paths" not in a or a.get("condition") != "AND"
    ]


rules = [
    {
        "id": r["id"],
        "regex": r["regex"],
        "keywords": r["keywords"],
        "entropy": r.get("entropy", 0),
        "group": r.get("secretGroup", 0),
        "allow": [a for a in allowlists(r.get("allowlists", [])) if a["regexes"] or a["stopwords"]],
    }
    for r in config["rules"]
    if "path" not in r
]
with open(sys.argv[3], "w", encoding="utf-8") as out:
    json.dump(
        {"source": "https://github.com/gitleaks/gitleaks " + sys.argv[2], "allow": allowlists([config["allowlist"]]), "rules": rules},
        out,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    out.write("\n")
