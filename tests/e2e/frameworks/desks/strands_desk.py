"""The refund desk behind the AG-UI bridge of Strands, at /agui."""

import desk
import provider
from ag_ui_strands import StrandsAgent, StrandsAgentConfig, ToolBehavior, create_strands_app
from strands import Agent, tool
from strands.models.openai import OpenAIModel

model = OpenAIModel(client_args={"base_url": provider.start(), "api_key": "none"}, model_id="desk")
tools = {each.__name__: each for each in (desk.issue_refund, desk.send_email)}
config = StrandsAgentConfig(
    tool_behaviors={name: ToolBehavior(interrupt_on_call=True) for name in tools}
)
agent = StrandsAgent(
    agent=Agent(model=model, tools=list(map(tool, tools.values())), system_prompt="Refund."),
    name="desk",
    description="Refunds.",
    config=config,
)
app = create_strands_app(agent, "/agui", "/ping", origins=["http://localhost"])
