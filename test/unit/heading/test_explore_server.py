"""Server of explore.py: rejection of forged requests and of excessive computations."""

import json

import pytest

from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.explore.answers import (
    Answers,
    CommandTexts,
    question_from_address,
    question_texts,
)
from imu_simulation_framework.heading.explore.page import make_app

pytest.importorskip("dash")


@pytest.fixture(scope="module")
def answers():
    return Answers(read=None)


@pytest.fixture(scope="module")
def client(answers, tmp_path_factory):
    app = make_app(answers, CommandTexts(), str(tmp_path_factory.mktemp("recordings")))
    return app.server.test_client()


def post(client, body):
    return client.post(
        "/_dash-update-component",
        data=body,
        content_type="application/json",
        headers={"Host": "127.0.0.1:8050"},
    )


def request_body(asked, output="asked"):
    """Return a request as sent by the page's script for its fast result."""
    names = ("mistake", "cards", "remarks", "causes")
    outputs = [{"id": name, "property": "children"} for name in names]
    outputs += [{"id": "bands", "property": name} for name in ("figure", "style")]
    outputs += [
        {"id": name, "property": "children"}
        for name in ("budget-command", "ranking-command", "python")
    ]
    outputs += [{"id": "shown", "property": "data"}]
    words = "...".join(f"{output['id']}.{output['property']}" for output in outputs)
    return {
        "output": f"..{words}..",
        "outputs": outputs,
        "inputs": [{"id": output, "property": "data", "value": asked}],
        "changedPropIds": [f"{output}.data"],
    }


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        "null",
        "{}",
        json.dumps({"output": "nothing.there", "inputs": [], "changedPropIds": []}),
        json.dumps(request_body(None)),
        json.dumps(request_body({"number": "1", "page": 1, "texts": []})),
        json.dumps(request_body({"number": 1, "page": "a", "texts": {"motion": {}}})),
    ],
)
def test_forged_request_is_answered_with_status_400(client, body, capfd):
    assert post(client, body).status_code == 400
    assert "Traceback" not in capfd.readouterr().err


def test_unknown_component_package_is_answered_with_status_404(client, capfd):
    answer = client.get("/_dash-component-suites/nothing/there.js", headers={"Host": "localhost:1"})
    assert answer.status_code == 404
    assert "Traceback" not in capfd.readouterr().err


def test_valid_request_of_page_is_answered(client):
    texts = question_texts(question_from_address("duration=1min&imu=bno055"))
    answer = post(client, json.dumps(request_body({"number": 1, "page": "a", "texts": texts})))
    assert answer.status_code == 200
    shown = answer.get_json()["response"]["shown"]["data"]
    assert shown["accepted"] is True


def test_motion_with_too_many_turns_is_rejected_before_simulation(answers):
    question = question_from_address("motion=circles&speed=20&radius=0.5&duration=8h")
    with pytest.raises(ConfigurationError, match="samples, expected at most"):
        answers.motion(question)
    answers.motion(question_from_address("motion=circles&speed=2&radius=5&duration=1h"))
