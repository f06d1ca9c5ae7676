"""HiGHS as every strategy here uses it: silent, and each of its statuses mapped."""

from enum import Enum

import highspy


class Outcome(Enum):
    """How a solve ended."""

    SOLVED = "solved"
    INFEASIBLE = "no solution"
    STOPPED = "stopped"
    FAILED = "failed"


_OUTCOMES = {
    highspy.HighsModelStatus.kOptimal: Outcome.SOLVED,
    highspy.HighsModelStatus.kInfeasible: Outcome.INFEASIBLE,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Outcome.INFEASIBLE,
    highspy.HighsModelStatus.kTimeLimit: Outcome.STOPPED,
    highspy.HighsModelStatus.kIterationLimit: Outcome.STOPPED,
    highspy.HighsModelStatus.kSolutionLimit: Outcome.STOPPED,
    highspy.HighsModelStatus.kInterrupt: Outcome.STOPPED,
    highspy.HighsModelStatus.kObjectiveBound: Outcome.STOPPED,
    highspy.HighsModelStatus.kObjectiveTarget: Outcome.STOPPED,
    highspy.HighsModelStatus.kModelEmpty: Outcome.SOLVED,
}


def outcome_of(highs: highspy.Highs) -> Outcome:
    """How the last run ended; a status that is not known counts as failed."""
    return _OUTCOMES.get(highs.getModelStatus(), Outcome.FAILED)


class SilentHighs(highspy.Highs):
    """HiGHS that never prints: its banner comes when callbacks are enabled, before a caller could turn output off."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the name is highspy's
        """Turn output off first."""
        self.setOptionValue("output_flag", False)  # noqa: FBT003
        super().enableCallbacks()  # type: ignore[no-untyped-call]
