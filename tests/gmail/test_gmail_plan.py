"""The cheapest calls that read the wanted messages."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from inbox_loop.gmail.plan import LargeMessages, ReadHeaders, ReadMessage, ReadThread, plan_reads
from inbox_loop.loop.ports import MessageId
from inbox_loop.settings import METHOD_COSTS

NONE_LARGE = LargeMessages()


def of_thread(thread: str, count: int) -> list[MessageId]:
    return [MessageId(f"{thread}{n}", thread) for n in range(count)]


def test_a_thread_is_read_whole_from_its_third_wanted_message_on() -> None:
    one, two, three = of_thread("a", 1), of_thread("b", 2), of_thread("c", 3)

    reads = plan_reads(one + two + three, METHOD_COSTS, NONE_LARGE)

    assert reads == (*map(ReadMessage, one + two), ReadThread("c", tuple(three)))


def test_where_a_message_costs_60_a_thread_is_read_whole_for_one() -> None:
    wanted = of_thread("a", 1)

    assert plan_reads(wanted, {**METHOD_COSTS, "messages.get": 60}, NONE_LARGE) == (ReadThread("a", tuple(wanted)),)


def test_no_messages_need_no_calls() -> None:
    assert plan_reads([], METHOD_COSTS, NONE_LARGE) == ()


def test_of_a_large_message_the_headers_are_read_and_its_thread_message_by_message() -> None:
    wanted, others = of_thread("a", 4), of_thread("b", 3)
    large = LargeMessages(frozenset({"a1", "elsewhere"}), frozenset({"a", "c"}))

    first, *rest = wanted
    assert plan_reads(wanted + others, METHOD_COSTS, large) == (
        ReadMessage(first),
        ReadHeaders(rest[0]),
        *map(ReadMessage, rest[1:]),
        ReadThread("b", tuple(others)),
    )


def test_a_thread_in_which_a_large_message_hangs_that_is_not_wanted_is_not_read_whole() -> None:
    wanted = of_thread("a", 4)
    large = LargeMessages(frozenset({"another"}), frozenset({"a"}))

    assert plan_reads(wanted, METHOD_COSTS, large) == tuple(map(ReadMessage, wanted))


@settings(max_examples=50, deadline=None)
@given(
    wanted=st.lists(st.builds(MessageId, st.sampled_from("abcdefghij"), st.sampled_from("xyz")), max_size=30),
    costs=st.fixed_dictionaries({"messages.get": st.integers(0, 60), "threads.get": st.integers(0, 60)}),
)
def test_every_wanted_id_is_read_once_and_no_thread_could_be_read_for_less(
    wanted: list[MessageId], costs: dict[str, int]
) -> None:
    reads = plan_reads(wanted, costs, NONE_LARGE)

    ids = [
        each.message_id for read in reads for each in (read.wanted if isinstance(read, ReadThread) else [read.wanted])
    ]
    assert Counter(ids) == Counter({each.message_id for each in wanted})
    for read in reads:
        if isinstance(read, ReadThread):
            assert costs["threads.get"] < len(read.wanted) * costs["messages.get"]
    singles = Counter(read.wanted.thread_id for read in reads if isinstance(read, ReadMessage))
    assert all(count * costs["messages.get"] <= costs["threads.get"] for count in singles.values())
