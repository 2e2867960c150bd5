"""Follow threads and teams: one channel-layer subscription per process, shared by everyone."""

from inbox.feed.event_streams import follow, follow_run
from inbox.feed.hubs import Watcher, hub, set_viewed_interrupt, subscribe, watch
from inbox.feed.subscriptions import Subscription
from inbox.feed.tails import EventRow
from inbox.feed.team_slots import take_socket_of_teams, take_stream_of_team

__all__ = [
    "EventRow",
    "Subscription",
    "Watcher",
    "follow",
    "follow_run",
    "hub",
    "set_viewed_interrupt",
    "subscribe",
    "take_socket_of_teams",
    "take_stream_of_team",
    "watch",
]
