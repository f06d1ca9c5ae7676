"""The brute-force search beside the instances, asked about problems of the tests."""

import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json


def exact_answer(exact_search: ModuleType, problem: Problem, *, most_states: int = 200_000) -> Mapping[str, Any] | None:
    """What the search says of a problem, `None` where it gives up.

    It counts a repeated input twice, and finds room for parameters that nothing reads; our rules do neither.
    """
    data = json.loads(json.dumps(problem_to_json(problem)))
    for operator in data["operators"]:
        operator["inputs"] = list(dict.fromkeys(operator["inputs"]))
    used = {parameter for operator in data["operators"] for parameter in operator["parameters"]}
    data["parameters"] = [parameter for parameter in data["parameters"] if parameter["name"] in used]
    answer: Mapping[str, Any] = exact_search.search(data, max_states=most_states)
    return answer if answer["complete"] else None
