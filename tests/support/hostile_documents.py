# SPDX-License-Identifier: Apache-2.0
"""JSON documents of the program with texts that mean harm in place of theirs."""


def text_places(value, place=()):
    """Places of texts; all elements of a list are one place, "*"."""
    if isinstance(value, str):
        return {place}
    inner = value.items() if isinstance(value, dict) else (("*", item) for item in value) if isinstance(value, list) else ()
    return set().union(*(text_places(item, (*place, key)) for key, item in inner))


def changed(document, places, change):
    """A copy of the document with change(text) at these places; what has none of them is not copied, but the document's own."""
    def at(value, places):
        if isinstance(value, str):
            return change(value) if () in places else value
        if not isinstance(value, (dict, list)):
            return value
        below = {}
        for place in places:
            if place:
                below.setdefault(place[0], set()).add(place[1:])
        if isinstance(value, list):
            return [at(item, below["*"]) for item in value] if "*" in below else value
        return {key: at(item, below[key]) if key in below else item for key, item in value.items()}

    return at(document, set(places))


def free_places(document, is_taken):
    """Places whose texts may be any: is_taken(document) tells whether it is read with another text there."""
    return {place for place in sorted(text_places(document)) if is_taken(changed(document, {place}, lambda old: old + "Zq7"))}
