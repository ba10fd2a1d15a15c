"""Who the caller is, and which store belongs to their folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.errors import CorruptError
from wc_core.base.text import one_line
from wc_core.ledger.git import discovery, repository
from wc_observe.answers.health import error_line
from wc_observe.answers.quoting import clean_json, word
from wc_observe.callers.open_store import caller_identity, store_label, without_folders

if TYPE_CHECKING:
    from wc_observe.callers.calls import Call


def whoami_fields(call: Call) -> dict[str, Any]:
    """Returns who the caller is, which rule determined it, and where they are.

    Raises InvalidInputError if a configured name is not valid.
    """
    identity = caller_identity(call)
    fields: dict[str, Any] = {
        "you": identity.author,
        "agent": identity.name.agent,
        "seat": identity.name.seat,
        "tag": identity.name.tag,
        "source": identity.source,
        "client": call.client,
        "folder": store_label(call.folder, call),
    }
    try:
        place = discovery.find(call.folder, call.env)
        fields |= {"store": store_label(place.root, call), "exists": place.exists}
    except CorruptError as error:
        fields |= {"store": None, "problem": without_folders(error_line(error), call)}
    if call.subject:
        fields["subject"] = call.subject
    code = None if call.store_name else repository.find(call.folder)
    if code is not None and code.working_branch:
        fields["code_branch"] = code.working_branch
    return dict(clean_json(fields))


def whoami_text(fields: dict[str, Any]) -> str:
    """Returns who and where in three lines."""
    store = fields["store"] or one_line(fields["problem"], 1000)
    missing = "" if fields.get("exists", True) else " (does not exist yet: wc init)"
    on = f", branch {word(fields['code_branch'])}" if "code_branch" in fields else ""
    subject = f", as: {word(fields['subject'])}" if "subject" in fields else ""
    return (
        f"you: {word(fields['you'], 250)} (by: {fields['source']}, "
        f"client: {word(fields['client'])}{subject})\n"
        f"folder: {fields['folder']}{on}\n"
        f"store: {store}{missing}\n"
    )
