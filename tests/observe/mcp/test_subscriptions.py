"""Clients of both eras of the protocol are told what changed."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import McpError
from mcp.client.subscriptions import listen
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import ResourceListChangedNotification, ResourceUpdatedNotification

from tests import forking
from tests.observe.stores import MODES, NOW_MS, Mode, Store, only_text
from wc_observe.callers.calls import Call, ServerContext
from wc_observe.mcp import subscribers, subscriptions
from wc_observe.mcp.boundary import Boundary
from wc_observe.mcp.server import build_server
from wc_observe.mcp.subscribers import Stream
from wc_observe.mcp.subscriptions import Subscriptions
from wc_observe.stores.live.reader import FEW
from wc_observe.stores.live.stores import Stores
from wc_observe.stores.watch import addresses
from wc_observe.stores.watch.addresses import thread_address
from wc_observe.stores.watch.stores import StoreWatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from fastmcp import FastMCP
    from mcp_types import ServerNotification

    from tests.conftest import Repo

pytestmark = pytest.mark.filterwarnings("ignore:resources/.* is removed as of")

SECONDS = 20.0
LIST = "the list"
PLAN = thread_address("plan")


class Ears:
    """What a client was told: addresses, and `LIST`."""

    def __init__(self, client: Client[Any]) -> None:
        self.client = client
        self.told: list[str] = []
        self._news = asyncio.Event()

    def take(self, what: str) -> None:
        self.told.append(what)
        self._news.set()

    async def hears(self, *wanted: str) -> list[str]:
        """Wait for all of these; what was told since the last time."""
        async with asyncio.timeout(SECONDS):
            while not set(wanted) <= set(self.told):
                self._news.clear()
                await self._news.wait()
        told, self.told = self.told, []
        return told

    async def hears_nothing(self) -> None:
        """Nothing comes that does not take as long as a flush of events."""
        await asyncio.sleep(0.1)
        assert self.told == []


@asynccontextmanager
async def listening(
    server: Any, mode: Mode, *uris: str, **how: Any
) -> AsyncIterator[Ears]:
    """A client that has subscribed to these addresses, and to the list."""

    async def take(message: ServerNotification | Exception) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            ears.take(str(message.params.uri))
        elif isinstance(message, ResourceListChangedNotification):
            ears.take(LIST)

    async with AsyncExitStack() as stack:
        handler = {"message_handler": take} if mode == "legacy" else {}
        client = Client(server, mode=mode, **handler, **how)
        ears = Ears(client)
        await stack.enter_async_context(client)
        if mode == "legacy":
            for uri in uris:
                await client.session.subscribe_resource(uri)
        else:
            stream = await stack.enter_async_context(
                listen(
                    client.session,
                    resources_list_changed=True,
                    tools_list_changed=True,
                    resource_subscriptions=uris,
                )
            )
            assert stream.honored.tools_list_changed is None

            async def pump() -> None:
                async for event in stream:
                    ears.take(event.uri if isinstance(event, ResourceUpdated) else LIST)

            pumping = asyncio.create_task(pump())
            stack.callback(pumping.cancel)
        yield ears


@pytest.fixture
def server(store: Store, env: dict[str, str]) -> FastMCP:
    return build_server(ServerContext(str(store.root.parent), env, lambda: NOW_MS))


def listened_to(server: FastMCP) -> list[str]:
    (ours,) = (one for one in server.middleware if isinstance(one, Subscriptions))
    return ours.watch.roots


async def until(test: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not test():  # noqa: ASYNC110  (threads set no asyncio event)
            await asyncio.sleep(0.005)


def run(doing: Coroutine[Any, Any, None]) -> None:
    """Run it; nothing watches after that."""
    asyncio.run(doing)

    def watchers() -> list[str]:
        return [one.name for one in threading.enumerate() if "watcher" in one.name]

    for _ in range(400):
        if not watchers():
            break
        threading.Event().wait(0.01)
    assert watchers() == []


@pytest.mark.parametrize("mode", MODES)
def test_subscribers_of_a_thread_hear_of_its_entries(
    store: Store, server: FastMCP, mode: Mode
) -> None:
    store.thread("plan")
    store.thread("other")

    def beside(topic: str) -> None:
        Path(store.layout.meta(topic)).write_text("{}")
        Path(store.layout.page(topic)).write_text(f"# {topic}\n")

    async def go() -> None:
        async with listening(server, mode, PLAN) as ears:
            assert listened_to(server) == [str(store.root)]
            store.append("plan", store.entry("plan"))
            await ears.hears(PLAN)
            store.append("other", store.entry("other"))
            await ears.hears_nothing()
            # What a writer leaves beside the log is not news.
            beside("plan")
            await ears.hears_nothing()
            store.thread("plan", store.entry("plan"))  # another log in its place
            await ears.hears(PLAN)
        await until(lambda: listened_to(server) == [])

    run(go())


@pytest.mark.parametrize("mode", MODES)
def test_all_clients_hear_of_threads_that_come_and_go(
    store: Store, server: FastMCP, mode: Mode
) -> None:
    store.thread("plan")

    async def go() -> None:
        async with listening(
            server, mode, addresses.THREADS, thread_address("new")
        ) as ears:
            await ears.client.list_resources()
            await until(lambda: listened_to(server) == [str(store.root)])
            store.thread("new")
            await ears.hears(LIST, addresses.THREADS, thread_address("new"))
            shutil.rmtree(store.layout.folder("new"))
            await ears.hears(LIST, addresses.THREADS)
            store.append("plan", store.entry("plan"))
            assert LIST not in await ears.hears(addresses.THREADS)

    run(go())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("größe", "watercooler://threads/größe"),
        ("a b", "watercooler://threads/a%2520b"),
        ("plan", "watercooler://threads/%70lan"),
        ("50%", thread_address("50%25")),
    ],
)
def test_an_address_is_shown_as_it_was_written(
    store: Store, server: FastMCP, mode: Mode, name: str, spelt: str
) -> None:
    log = Path(store.layout.threads, name, "entries.jsonl")
    log.parent.mkdir(parents=True)
    log.write_text("{}\n")

    async def go() -> None:
        async with listening(server, mode, spelt) as ears:
            with open(log, "a") as file:  # noqa: ASYNC230
                file.write("{}\n")
            await ears.hears(spelt)

    run(go())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "uri",
    [
        "watercooler://nothing",
        "watercooler://threads/",
        "watercooler://threads/../plan",
        "watercooler://threads/%2E%2E",
        "watercooler://threads/%FF",
        "watercooler://loop/",
        "watercooler://loop/%00",
        "watercooler://threads/a b",
        "file:///etc/passwd",
        "",
    ],
)
def test_other_addresses_are_refused_with_those_there_are(
    server: FastMCP, mode: Mode, uri: str
) -> None:
    async def go() -> None:
        with pytest.raises(McpError) as caught:
            async with listening(server, mode, PLAN, uri):
                pass
        told = caught.value.error.data["error"]
        assert told["code"] == "INVALID_INPUT"
        assert "watercooler://threads/TOPIC" in told["hint"]
        await until(lambda: listened_to(server) == [])

    run(go())


def test_a_client_of_the_older_era_can_unsubscribe(
    store: Store, server: FastMCP
) -> None:
    store.thread("plan")

    async def go() -> None:
        async with listening(server, "legacy", PLAN, addresses.INDEX) as ears:
            await ears.client.session.unsubscribe_resource(PLAN)
            await ears.client.session.unsubscribe_resource(thread_address("never"))
            with pytest.raises(McpError):
                await ears.client.session.unsubscribe_resource("x")
            store.append("plan", store.entry("plan"))
            await ears.hears(addresses.INDEX)
            await ears.hears_nothing()

    run(go())


def test_nobody_is_watched_before_a_client_asked_for_something(
    store: Store, server: FastMCP
) -> None:
    store.thread("plan")

    async def go() -> None:
        async with Client(server, mode="legacy") as client:
            await client.list_tools()
            assert listened_to(server) == []
            await client.call_tool("watercooler_v1_health", {})
            await until(lambda: listened_to(server) == [str(store.root)])
        # The newer era is told nothing that it did not open a stream for.
        async with Client(server) as client:
            await client.call_tool("watercooler_v1_health", {})
            assert listened_to(server) == []

    run(go())


@pytest.mark.parametrize(("mode", "noticed"), [("auto", "watching"), ("off", "off")])
def test_health_says_how_changes_are_noticed(
    store: Store, env: dict[str, str], mode: str, noticed: str
) -> None:
    store.thread("plan")
    env |= {"WATERCOOLER_WATCH": mode}
    server = build_server(ServerContext(str(store.root.parent), env, lambda: NOW_MS))

    async def go() -> None:
        async with listening(server, "auto", PLAN) as ears:
            while True:
                told = await ears.client.call_tool_mcp("watercooler_v1_health", {})
                if "; not started\n" not in only_text(told):
                    break
            assert f"changes noticed by: {noticed}" in only_text(told)
        async with Client(server) as client:
            told = await client.call_tool_mcp("watercooler_v1_health", {})
            assert "changes noticed by" not in only_text(told)

    run(go())


def test_turned_off_nothing_is_watched_and_nothing_fails(
    store: Store, server: FastMCP
) -> None:
    store.thread("plan")
    Path(store.layout.config).write_text('[observe]\nwatch = "off"\n')

    async def go() -> None:
        async with listening(server, "auto", PLAN) as ears:
            store.append("plan", store.entry("plan"))
            await ears.hears_nothing()
            text = await ears.client.read_resource(PLAN)
            assert "Entry 2" in getattr(text[0], "text", "")

    run(go())


class _Slow(StoreWatch):
    """One that takes until it is let go to listen."""

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self.began, self.go, self.done = (threading.Event() for _ in range(3))

    def listen_at(self, *args: Any) -> Callable[[], None]:
        self.began.set()
        assert self.go.wait(SECONDS)
        try:
            return super().listen_at(*args)
        finally:
            self.done.set()


@pytest.mark.parametrize("first", ["close", "listen"])
def test_who_leaves_while_it_begins_to_listen_leaves_nobody_listening(
    store: Store, env: dict[str, str], first: str
) -> None:
    stores = Stores()
    watch = _Slow(stores)
    call = Call("codex", str(store.root.parent), env, lambda: NOW_MS, stores)

    async def leave() -> None:
        stream = Stream(watch, [PLAN])
        moving = asyncio.create_task(stream.follow(call))
        await until(watch.began.is_set)
        moving.cancel()
        if first == "listen":
            watch.go.set()
            await until(watch.done.is_set)
        stream.close()
        watch.go.set()
        with pytest.raises(asyncio.CancelledError):
            await moving

    run(leave())
    assert watch.done.is_set()
    assert watch.roots == []


@pytest.mark.parametrize("mode", MODES)
def test_two_clients_each_hear_what_they_asked_for(
    store: Store, server: FastMCP, mode: Mode
) -> None:
    store.thread("plan")
    store.thread("other")

    async def go() -> None:
        async with listening(server, mode, thread_address("other")) as one:
            async with listening(server, mode, PLAN) as two:
                store.append("plan", store.entry("plan"))
                await two.hears(PLAN)
            await one.hears_nothing()
            store.append("other", store.entry("other"))
            await one.hears(thread_address("other"))

    run(go())


def test_a_thread_that_comes_before_a_pause_is_announced_in_it(
    store: Store, server: FastMCP
) -> None:
    store.thread("plan")
    listing = "watercooler_v1_list_threads"

    async def go() -> None:
        async with listening(server, "legacy") as ears:
            await ears.client.call_tool_mcp(listing, {})
            store.thread("other")
            assert listened_to(server) == []
            assert await ears.hears(LIST) == [LIST]
            await ears.client.call_tool_mcp(listing, {})
            await ears.hears_nothing()

    run(go())


@pytest.mark.parametrize("mode", MODES)
def test_a_store_that_comes_later_goes_and_comes_back_is_heard(
    tmp_path: Path, env: dict[str, str], mode: Mode
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    server = build_server(ServerContext(str(folder), env, lambda: NOW_MS))

    async def go() -> None:
        async with listening(server, mode, PLAN) as ears:
            for _ in range(2):
                store = Store(folder / ".watercooler")
                store.thread("plan")
                await ears.hears(PLAN, LIST)
                store.append("plan", store.entry("plan"))
                await ears.hears(PLAN)
                shutil.rmtree(store.root)
                await ears.hears(PLAN, LIST)

    run(go())


@pytest.mark.parametrize("mode", MODES)
def test_the_announcement_is_true(server: FastMCP, mode: Mode) -> None:
    async def go() -> None:
        async with Client(server, mode=mode) as client:
            said = client.session.server_capabilities
            assert said is not None
            resources, tools = said.resources, said.tools
            assert resources is not None
            assert tools is not None
            assert (resources.subscribe, resources.list_changed) == (True, True)
            assert not tools.list_changed

    run(go())


@pytest.mark.parametrize("mode", MODES)
def test_a_client_cannot_ask_for_without_end(server: FastMCP, mode: Mode) -> None:
    many = [thread_address(f"t{number}") for number in range(subscribers.MAX_ADDRESSES)]

    async def ask() -> None:
        async with listening(server, mode, *many, PLAN):
            pass

    async def go() -> None:
        with pytest.raises(McpError) as caught:
            await ask()
        assert caught.value.error.data["error"]["code"] == "CONFLICT"

    run(go())


def test_streams_have_a_limit_and_leave_room_when_they_end(server: FastMCP) -> None:
    async def go() -> None:
        async with Client(server) as client:
            async with AsyncExitStack() as stack:
                for _ in range(subscriptions.MAX_STREAMS):
                    stream = listen(client.session, resources_list_changed=True)
                    await stack.enter_async_context(stream)
                with pytest.raises(McpError) as caught:
                    async with listen(client.session, resources_list_changed=True):
                        pass
                assert caught.value.error.data["error"]["code"] == "CONFLICT"
            await until(lambda: listened_to(server) == [])
            async with listen(client.session, resources_list_changed=True):
                pass

    run(go())


def real(env: dict[str, str], folder: Path) -> StdioTransport:
    """The server itself, in a folder."""
    program, *words = forking.observing(env)
    return StdioTransport(
        program,
        words,
        env=env,
        cwd=str(folder),
        keep_alive=False,
    )


@pytest.mark.parametrize("mode", MODES)
def test_the_store_is_that_of_the_clients_root(
    tmp_path: Path, server: FastMCP, env: dict[str, str], mode: Mode
) -> None:
    other = Store(tmp_path / "elsewhere" / ".watercooler")
    other.thread("plan")
    roots = [other.root.parent.as_uri()]
    # In the newer era roots are told in answer to a call, and only there; who
    # called can be known only where there is a single client.
    transport = server if mode == "legacy" else real(env, tmp_path)

    async def go() -> None:
        async with listening(transport, mode, PLAN, roots=roots) as ears:
            if mode == "auto":
                await ears.client.call_tool("watercooler_v1_whoami", {})
            async with asyncio.timeout(SECONDS):
                while PLAN not in ears.told:
                    other.append("plan", other.entry("plan"))
                    await asyncio.sleep(0.05)

    run(go())


@pytest.mark.parametrize("mode", MODES)
def test_the_real_server_reports_what_wc_writes(repo: Repo, mode: Mode) -> None:
    def wc(*words: str) -> Coroutine[Any, Any, object]:
        return asyncio.to_thread(repo.ok, *words)

    async def go() -> None:
        server = real(repo.machine.env, repo.path)
        async with listening(server, mode, PLAN) as ears:
            # There is no store yet.
            await wc("new", "plan", "--title", "A plan", "--body", "b")
            await ears.hears(PLAN, LIST)
            await wc("ack", "plan", "--title", "more", "--body", "b")
            await ears.hears(PLAN)

    run(go())


def test_the_private_names_it_stands_on_are_still_there(server: FastMCP) -> None:
    low = server._mcp_server
    for method in ("resources/subscribe", "resources/unsubscribe"):
        assert low.get_request_handler(method) is not None
    assert low.get_request_handler("subscriptions/listen") is not None
    assert low.notification_options.resources_changed

    async def go() -> None:
        async with listening(server, "legacy", PLAN):
            assert listened_to(server) != []

    run(go())


def test_a_large_store_is_watched_for_the_sake_of_calls(
    store: Store, server: FastMCP
) -> None:
    for number in range(FEW + 1):
        store.thread(f"t{number}")
    (boundary,) = (one for one in server.middleware if isinstance(one, Boundary))

    async def go() -> None:
        async with Client(server) as client:

            async def entries(topic: str) -> int:
                told = await client.call_tool_mcp(
                    "watercooler_v1_list_threads", {"format": "json", "limit": 500}
                )
                fields = json.loads(only_text(told))
                rows = {row["topic"]: row for row in fields["threads"]}
                return int(rows[topic]["entry_count"]) if topic in rows else 0

            assert await entries("t5") == 1
            live = boundary.stores.cached(str(store.root))
            assert live is not None
            await until(lambda: live.reader.watched)
            await until(lambda: listened_to(server) == [str(store.root)])
            for topic, before in (("t5", 1), ("new", 0), ("t5", 2)):
                if before:
                    store.append(topic, store.entry(topic))
                else:
                    store.thread(topic)
                async with asyncio.timeout(SECONDS):
                    while await entries(topic) == before:  # noqa: ASYNC110
                        await asyncio.sleep(0.005)
            assert live.reader.watched
        await until(lambda: listened_to(server) == [])
        assert not live.reader.watched

    run(go())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("mode", MODES)
def test_activity_in_other_worktrees_is_reported(repo: Repo, mode: Mode) -> None:
    loop = "watercooler://loop/fix"
    one = repo.worktree("app-wt-one")
    store = Store(repo.path / ".watercooler")
    env = repo.machine.env | {"WATERCOOLER_DIR": str(store.root)}
    server = build_server(ServerContext(str(one.path), env, lambda: NOW_MS))
    state = ".claude/loop-state.json"

    async def go() -> None:
        async with listening(server, mode, addresses.WORKTREES, loop) as ears:
            _write(repo.path / state, "{}")
            await ears.hears(addresses.WORKTREES, loop)
            # Truncated and written again, as careless writers do.
            _write(repo.path / state, '{"status": "done"}')
            await ears.hears(addresses.WORKTREES, loop)
            two = await asyncio.to_thread(repo.worktree, "app-wt-fix")
            await ears.hears(addresses.WORKTREES)
            _write(two.path / ".claude/activity.json", "{}")
            await ears.hears(addresses.WORKTREES)
            _write(two.path / state, "{}")
            await ears.hears(addresses.WORKTREES, loop)
            _write(repo.machine.home / ".cache/wt-tools/team_status.json", "{}")
            await ears.hears(addresses.WORKTREES)
            _write(Path(store.layout.presence) / "note.json", "{}")
            await ears.hears(addresses.WORKTREES)
            await asyncio.to_thread(two.git, "switch", "-q", "-c", "elsewhere")
            await ears.hears(addresses.WORKTREES)
            if mode == "legacy":
                await ears.client.session.unsubscribe_resource(loop)
                _write(two.path / state, "{ }")
                assert loop not in await ears.hears(addresses.WORKTREES)
            store.thread("plan")
            assert loop not in await ears.hears(addresses.WORKTREES, LIST)

    run(go())
