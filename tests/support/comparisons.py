# SPDX-License-Identifier: Apache-2.0
"""Comparisons: what must be found in pairs of generated runs, and what a comparison calls significant."""

TABLES = ("kernels", "ops", "scopes", "collectives", "transfers", "gaps", "compile")
# name: (options of the new run, id of the first finding, what its title has, least part of the change it explains, percent)
PLANTED = {
    "a family of operations 20% slower": (("--slower-op", "gemm_fusion_dot=1.2"), "op_slower", "gemm_fusion_dot", 70),
    "products 20% slower": (("--slower-op", "cublas-gemm=1.2"), "op_slower", "cublas-gemm", 70),
    "one more copy per step": (("--extra-transfer",), "transfer_more", "from host to device", 80),
    "nothing beside computing": (("--no-overlap",), "overlap_lost", "", 60),
    "compilations in the steps": (("--scenario", "recompile"), "recompiles", "during steps", 90),
    "one slow device": (("--slow-device", "1=1.3"), "slow_device", "gpu:1", 70),
}


def is_first(document, cause, words):
    """Is the planted cause the first line of the comparison?"""
    first = document["findings"][0] if document["findings"] else None
    return bool(first) and first["id"] == cause and words in first["title"]


def significant(document):
    """What a comparison of two sides calls significant.  out: {what tests it: [names]}; each of them may be empty"""
    found = {"step": ["the step"] if document["tests"][0]["changed"] else [],
             "parts": [p["id"] for p in document["waterfalls"][0]["parts"] if p["significant"]],
             "figures": [f["id"] for f in document["figures"] if f["changes"][0]["significant"]]}
    for table in (*TABLES, "devices"):
        rows = (document[table] or {"rows": []})["rows"]
        found[table] = [r["name"] for r in rows if r["changes"][0]["significant"]]
    found["findings"] = [f["title"] for f in document["findings"] if f["change_ps"] is not None]
    return found
