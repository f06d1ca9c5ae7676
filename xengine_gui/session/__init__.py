"""Sessions: what somebody works on, saved and taken up again."""

from xengine_gui.session.content import (
    SavedPlan,
    Session,
    View,
    digest_of,
    restored_plan,
    saved_plan,
    understood_constraints,
    with_limits,
)
from xengine_gui.session.session_file import (
    FORMAT,
    SUFFIX,
    parse_session,
    path_from,
    read_session,
    session_to_json,
    write_session,
)

__all__ = [
    "FORMAT",
    "SUFFIX",
    "SavedPlan",
    "Session",
    "View",
    "digest_of",
    "parse_session",
    "path_from",
    "read_session",
    "restored_plan",
    "saved_plan",
    "session_to_json",
    "understood_constraints",
    "with_limits",
    "write_session",
]
