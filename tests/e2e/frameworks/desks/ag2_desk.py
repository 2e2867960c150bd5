"""The refund desk behind AG2's AG-UI stream, at /agui."""

import desk
import provider
from ag2 import Agent
from ag2.ag_ui import AGUIStream
from ag2.config import OpenAIConfig
from ag2.middleware.builtin.tools.approval import ApprovalRequired
from ag2.tools import tool
from starlette.applications import Starlette
from starlette.routing import Route

config = OpenAIConfig(model="desk", base_url=provider.start(), api_key="none", streaming=True)
tools = [
    tool(function, middleware=[ApprovalRequired()])
    for function in (desk.issue_refund, desk.send_email)
]
agent = Agent("desk", config=config, tools=tools)
app = Starlette(routes=[Route("/agui", AGUIStream(agent).build_asgi())])
