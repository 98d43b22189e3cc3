"""The metrics as the gateway serves them, and who may ask how."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from controller.client.discovery import Endpoints
from controller.config import ConfigError, TableConfig, load_table
from controller.gateway.gateway import GatewayError, open_gateway
from controller.gateway.metric_families import METRIC_FAMILIES, render_metrics
from controller.gateway.metrics_endpoint import MAX_REQUEST_BYTES
from controller.gateway_protocol import HelloMessage, Histogram, MetricSample, MetricsMessage
from controller.messages import Alert, MachinePhase, PublicMachine, RefereeCall
from controller.service.wall_clock import read_wall_clock
from tests.gateway.metrics_requests import request_metrics, scrape
from tests.gateway.scripted import Connect, MakeState, ScriptedMachine

DEPLOYED = Path(__file__).parents[2] / "deploy" / "table.toml"


@pytest.fixture(autouse=True)
def tells(machine: ScriptedMachine) -> None:
    """Let the machine say that it has numbers, and which."""
    took = Histogram((0.001, 0.01))
    for took_s in (0.0005, 0.005, 0.5):
        took.add(took_s)
    machine.hello = HelloMessage("T01", simulated=True, boot="ab", metrics=True)
    machine.metrics = MetricsMessage(
        (MetricSample("deals", (), 7), MetricSample("voids", ("JAM",), 2)),
        (took.distribution("route_latency_seconds"),),
    )


async def test_numbers_of_machine_and_gateway_are_served_with_table_and_simulated(
    endpoints: Endpoints, connect: Connect
) -> None:
    await connect("referee").ask("release")
    await connect("referee").ask("no such")

    lines = (await scrape(endpoints)).splitlines()

    own = 'simulated="true",table="T01"'
    assert f"dealtable_deals_total{{{own}}} 7.0" in lines
    assert f'dealtable_voids_total{{reason="JAM",{own}}} 2.0' in lines
    assert f'dealtable_route_latency_seconds_bucket{{le="0.01",{own}}} 2.0' in lines
    assert f'dealtable_route_latency_seconds_bucket{{le="+Inf",{own}}} 3.0' in lines
    assert f"dealtable_machine_up{{{own}}} 1.0" in lines
    assert f'dealtable_commands_total{{answer="ok",cmd="release",{own}}} 1.0' in lines
    assert f'dealtable_commands_total{{answer="ok",cmd="other",{own}}} 1.0' in lines
    assert all(own in line for line in lines if not line.startswith("#"))


async def test_phase_alerts_and_calls_are_those_of_the_last_state(
    endpoints: Endpoints, machine: ScriptedMachine, make_state: MakeState, connect: Connect
) -> None:
    alert = Alert(code=1, name="JAM", since="", cause="", action="", cause_zh="", action_zh="")
    call = RefereeCall(seat="N", reason="button", since="")
    machine.publish(
        make_state(PublicMachine(phase=MachinePhase.FAULT), alerts=[alert], calls=[call])
    )
    await connect("observer").ask("snapshot")  # behind the state on the same line

    body = await scrape(endpoints)

    assert 'dealtable_phase{phase="fault",' in body
    assert 'dealtable_alert{fault="JAM",' in body
    assert 'dealtable_calls_waiting{simulated="true",table="T01"} 1.0' in body


async def test_the_machine_is_asked_at_most_once_a_second(
    endpoints: Endpoints, machine: ScriptedMachine
) -> None:
    await asyncio.gather(*(scrape(endpoints) for _ in range(5)))

    assert machine.asked_metrics == 1


async def test_a_machine_that_says_nothing_costs_its_own_numbers_alone(
    endpoints: Endpoints, machine: ScriptedMachine
) -> None:
    machine.metrics = None

    body = await scrape(endpoints)

    assert "dealtable_machine_up" in body
    assert "dealtable_deals_total" not in body


async def test_a_machine_of_an_older_version_is_never_asked(
    config: TableConfig, machine: ScriptedMachine
) -> None:
    machine.hello = HelloMessage("T01", simulated=True)
    async with open_gateway(config, read_wall_clock) as endpoints:
        await machine.connected.wait()
        await scrape(endpoints)

    assert machine.asked_metrics == 0


async def test_without_its_machine_the_gateway_still_tells_of_itself(
    config: TableConfig, machine: ScriptedMachine
) -> None:
    await machine.stop()
    async with open_gateway(config, read_wall_clock) as endpoints:
        assert 'dealtable_machine_up{simulated="true",table="T01"} 0.0' in await scrape(endpoints)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "404"),
        (b"GET /metrics/../../etc/passwd HTTP/1.1\r\n\r\n", "404"),
        (b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405"),
        (b"nonsense\r\n\r\n", "405"),
        (b"\xff\xfe\r\n\r\n", "405"),
        (b"x" * (MAX_REQUEST_BYTES + 100), "400"),
    ],
)
async def test_whoever_asks_for_something_else_is_told_so_and_the_next_is_served(
    endpoints: Endpoints, request_: bytes, status: str
) -> None:
    head, _ = await request_metrics(endpoints, request_)

    assert head.startswith(f"HTTP/1.0 {status}")
    assert "dealtable_deals_total" in await scrape(endpoints)


async def test_where_metrics_are_off_nothing_listens(
    config: TableConfig, machine: ScriptedMachine
) -> None:
    quiet = msgspec.structs.replace(
        config, gateway=msgspec.structs.replace(config.gateway, metrics="off")
    )
    async with open_gateway(quiet, read_wall_clock) as endpoints:
        assert endpoints.metrics is None


async def test_a_port_that_is_taken_is_named_in_one_line(
    config: TableConfig, machine: ScriptedMachine, endpoints: Endpoints
) -> None:
    assert endpoints.metrics is not None
    port = endpoints.metrics.rpartition(":")[2].partition("/")[0]
    taken = msgspec.structs.replace(config.gateway, metrics=f"tcp://127.0.0.1:{port}")

    with pytest.raises(GatewayError, match=r"\[gateway\] metrics = .*in use; stop what listens"):
        async with open_gateway(msgspec.structs.replace(config, gateway=taken), read_wall_clock):
            pass


@pytest.mark.parametrize("address", ["tcp://*:9556", "tcp://0.0.0.0:9556", "tcp://10.0.0.7:9556"])
def test_metrics_are_for_this_computer_alone(tmp_path: Path, address: str) -> None:
    file = tmp_path / "table.toml"
    text = DEPLOYED.read_text(encoding="utf-8")
    file.write_text(text.replace('metrics = "tcp://127.0.0.1:*"', f'metrics = "{address}"'))

    with pytest.raises(ConfigError, match=r"metrics.*this computer alone"):
        load_table(file)


def test_a_number_that_is_in_no_family_is_passed_over() -> None:
    told = [
        MetricSample("of a later version", (), 1),
        MetricSample("deals", ("one label too many",), 1),
    ]
    body = render_metrics("T01", "true", told, [])
    assert b"later" not in body
    assert b"dealtable_deals_total{" not in body


def test_a_family_has_its_kind_s_name_and_a_help(subtests: pytest.Subtests) -> None:
    for family in METRIC_FAMILIES.values():
        with subtests.test(family.name):
            assert (family.kind == "counter") == family.name.endswith("_total")
            assert family.help.endswith(".")
            assert len({*family.labels, "table", "simulated"}) == len(family.labels) + 2
