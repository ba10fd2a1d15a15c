"""The keys of threads: which files they are made from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wc_core.base.layout import Layout
from wc_core.ledger.index.keys import NONE, thread_keys
from wc_core.ledger.threads.reader import StoreReader

LOG, META, ANNOTATIONS = "entries.jsonl", "meta.json", "annotations.jsonl"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A store with a thread of each kind."""
    made = Layout(os.path.realpath(tmp_path))
    threads = Path(made.threads)
    files = {
        "whole": (LOG, META),
        "annotated": (LOG, META, ANNOTATIONS),
        "bare": (LOG,),
        "annotated-bare": (LOG, ANNOTATIONS),
        "begun": (),
        "without-log": (META,),
    }
    for topic, names in files.items():
        (threads / topic).mkdir(parents=True)
        for name in names:
            (threads / topic / name).write_text("{}\n")
    (threads / "empty").mkdir()
    (threads / "empty" / LOG).touch()
    (threads / "folder" / LOG).mkdir(parents=True)
    (threads / "link").symlink_to("whole")
    (threads / "linked-log").mkdir()
    (threads / "linked-log" / LOG).symlink_to("../whole/entries.jsonl")
    return made


def test_threads_with_a_log_have_keys(layout: Layout) -> None:
    keys = thread_keys(layout, ["page-alone", *os.listdir(layout.threads)])
    assert {topic for topic, key in keys.items() if key != NONE} == {
        "whole",
        "annotated",
        "bare",
        "annotated-bare",
    }


def test_the_folders_may_be_known(layout: Layout) -> None:
    (Path(layout.threads) / "of another tool").mkdir()
    (Path(layout.threads) / "of another tool" / LOG).write_text("{}\n")
    Path(layout.pages).mkdir(exist_ok=True)
    (Path(layout.pages) / "page-alone.md").touch()
    topics, folders = StoreReader(layout.root).topics_and_folders()
    assert "page-alone" in topics
    assert "of another tool" in folders.values()
    assert "link" not in folders
    assert thread_keys(layout, topics, folders) == thread_keys(layout, topics)


def test_a_store_without_threads_has_no_keys(tmp_path: Path) -> None:
    assert thread_keys(Layout(os.path.realpath(tmp_path)), ["one"]) == {"one": NONE}
